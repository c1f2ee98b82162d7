package publish

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

const (
	// baseLife is the lifetime of a base whose response has no freshness information.
	baseLife = 10 * time.Minute
	// baseWait is the maximum wait of a request for the first fetch of a base.
	baseWait = 5 * time.Second
	// slotInterval is the time between two attempts to fetch a base while too many fetches run.
	slotInterval = 5 * time.Millisecond
)

// errWebPage is the error for a base that is a web page or UTF-16.
var errWebPage = errors.New("the base is a web page, or not UTF-8")

// rejectWebPage returns the result of a fetch, with an error in place of a web page, which must not
// replace the base.
func rejectWebPage(a policy.FetchResult) policy.FetchResult {
	if a.AccessResult() != policy.Successful {
		return a
	}
	findings, _ := policy.Parse(a.Body).Findings()
	if slices.ContainsFunc(findings, func(f policy.Finding) bool { return f.Code == policy.HTML || f.Code == policy.UTF16 }) {
		return policy.FetchResult{Status: a.Status, Err: errWebPage}
	}
	return a
}

// fetchBaseIfDue returns the state of the base with a key. A base that is due is fetched in the
// background. Only the first fetch of a base makes the request wait.
func (p *Publisher) fetchBaseIfDue(r *http.Request, key policy.Key) *policy.State {
	entry := p.Bases.GetOrCreate(key, key.Segment())
	entry.Touch(p.Now())
	if entry.State() == nil {
		p.awaitStorageRead(r.Context(), requestWait)
		s := site.NewSite(key)
		p.RequestSites.AdoptFromFormerKeys(p.Bases, serverFromRequest(r), &s) // A reload may have changed the key.
	}
	if !entry.IsDue(p.Now()) {
		return entry.State() // Another request may have fetched the base meanwhile.
	}
	asks := r.WithContext(context.WithValue(context.WithoutCancel(r.Context()), baseRequestKey{}, true))
	fetch, ok := p.Source.Prepare(asks, key)
	if !ok {
		return entry.State()
	}
	refresh := func() <-chan struct{} { return p.refreshBase(key, entry, fetch) }
	enough := time.NewTimer(baseWait)
	defer enough.Stop()
	for done := refresh(); entry.State() == nil; done = refresh() {
		var slot <-chan time.Time
		if done == nil { // Too many fetches run at this time.
			slot = time.After(slotInterval)
		}
		select {
		case <-done:
			return entry.State()
		case <-slot:
		case <-enough.C:
			return entry.State()
		case <-r.Context().Done():
			return entry.State()
		}
	}
	return entry.State()
}

// serverFromRequest returns the server that handles a request, or nil.
func serverFromRequest(r *http.Request) *caddyhttp.Server {
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return server
}

// refreshBase starts to fetch a base if it is due. done is the result of [policy.Entry.Refresh].
func (p *Publisher) refreshBase(key policy.Key, entry *policy.Entry, fetch site.FetchFunc) (done <-chan struct{}) {
	have := entry.Current()
	return entry.Refresh(policy.FreshnessPolicy{Default: baseLife, Min: time.Minute, Max: policy.MaxAge}, func() policy.FetchResult {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		timer := time.AfterFunc(baseWait, func() { cancel(site.ErrFetchTimeout) })
		defer timer.Stop()
		answer := rejectWebPage(fetch(ctx, have))
		answer.CachedVersion = have
		return answer
	}, p.fetchObserver(key))
}

// isBaseUsable reports whether the last fetch of a base succeeded. It is false for nil.
func isBaseUsable(s *policy.State) bool {
	return s != nil && s.FailureCount == 0 && s.Current != nil
}

// fetchObserver returns a function that logs the first failure of a base and its recovery, and
// counts failures.
func (p *Publisher) fetchObserver(key policy.Key) func(before, after policy.State) {
	return func(before, after policy.State) {
		if !isBaseUsable(&after) {
			p.Observer.OnPageFailed(StageBase)
		}
		log := p.Logger.With(zap.String("base", key.String()))
		known := before.FailureCount > 0 || before.Current != nil
		switch {
		case isBaseUsable(&after) && known && !isBaseUsable(&before):
			log.Log(logLevelFor(key.Segment(), zap.InfoLevel), "the base of the robots.txt can be read again")
		case isBaseUsable(&after), known && !isBaseUsable(&before): // The failure was logged before.
		default:
			log.Log(logLevelFor(key.Segment(), zap.WarnLevel), "the base of the robots.txt cannot be read; "+describeBaseInUse(after), zap.Int("status", after.LastStatus), zap.Error(after.LastErr))
		}
	}
}

// logLevelFor returns level, or the debug level for hosts that only clients name, because they must
// not fill the log.
func logLevelFor(segment policy.Segment, level zapcore.Level) zapcore.Level {
	if segment == policy.UnknownHosts {
		return zap.DebugLevel
	}
	return level
}

// describeBaseInUse says which base is served while it cannot be fetched.
func describeBaseInUse(s policy.State) string {
	if s.Current != nil {
		return "the last good base is used"
	}
	return "the response of the site is served without the rules of robots_txt; if the site has no robots.txt, write base none"
}

// lastGoodVersion returns the last good version of a base, or nil. state may be nil.
func lastGoodVersion(state *policy.State) *policy.Version {
	if state == nil {
		return nil
	}
	return state.Current
}

// NewBaseLookup returns a function that returns the base of a host as fetched from the next
// handler, or nil if it was not fetched. If several sites have the host, for example at two ports,
// the function returns the newest base.
func NewBaseLookup(bases *policy.Cache) func(host string) []byte {
	known := make(map[string]*policy.Version)
	for _, e := range bases.Entries() {
		if e.Key().Source != "" {
			continue
		}
		v := lastGoodVersion(e.State())
		if v == nil {
			continue
		}
		host := siteHost(e.Key())
		if before := known[host]; before == nil || v.FirstFetched.After(before.FirstFetched) {
			known[host] = v
		}
	}
	texts := make(map[[sha256.Size]byte][]byte)
	return func(host string) []byte {
		v := known[host]
		if v == nil {
			return nil
		}
		if texts[v.Hash] == nil {
			texts[v.Hash] = []byte(v.Robots.Text())
		}
		return texts[v.Hash]
	}
}
