package publish

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// How long a base holds that does not say it itself, and how long a request waits
// for one that was never read, and before that for what is stored.
const (
	baseLife       = 10 * time.Minute
	baseWait       = 5 * time.Second
	storedBaseWait = 2 * time.Second
)

// slotInterval is how often a request that waits looks whether its base can be read now.
const slotInterval = 5 * time.Millisecond

// errNoText says that a base cannot be built on.
var errNoText = errors.New("it is a web page, or no text")

// usable returns an answer as it counts for a base: a web page in place of a
// robots.txt is a failure, which takes the place of nothing.
func usable(a policy.Answer) policy.Answer {
	if a.Meaning() != policy.Rules {
		return a
	}
	findings, _ := policy.Parse(a.Body).Findings()
	if slices.ContainsFunc(findings, func(f policy.Finding) bool { return f.Code == policy.HTML || f.Code == policy.UTF16 }) {
		return policy.Answer{Status: a.Status, Err: errNoText}
	}
	return a
}

// AwaitStored waits a little until it is known which bases are stored: the last good
// one may be among them.
func (p *Publisher) AwaitStored(ctx context.Context) {
	if p.Stored == nil {
		return
	}
	timer := time.NewTimer(storedBaseWait)
	defer timer.Stop()
	select {
	case <-p.Stored:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// base returns what is known of a base. One that is due is read in the background;
// a request waits only for the first.
func (p *Publisher) base(r *http.Request, key policy.Key, first bool) *policy.State {
	entry := p.Bases.Add(key, key.Segment())
	entry.Use(p.Now())
	if entry.State() == nil {
		p.AwaitStored(r.Context())
		site := request.NewSite(key)
		p.Sites.Adopt(p.Bases, serverOf(r), &site) // of which a reload may have changed the key
	}
	if first && !isUsable(entry.State()) {
		entry.MakeDue() // who loads a configuration may have mended the base
	}
	if !entry.Due(p.Now()) {
		return entry.State() // which may have been read a moment ago
	}
	asks := r.WithContext(context.WithValue(context.WithoutCancel(r.Context()), forBase{}, true))
	fetch, ok := p.Source.Prepare(asks, key)
	if !ok {
		return entry.State()
	}
	refresh := func() <-chan struct{} { return p.refresh(key, entry, fetch) }
	enough := time.NewTimer(baseWait)
	defer enough.Stop()
	for done := refresh(); entry.State() == nil; done = refresh() {
		var slot <-chan time.Time
		if done == nil { // others are being read
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

// serverOf returns the server that a request came through, nil for none.
func serverOf(r *http.Request) *caddyhttp.Server {
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return server
}

// refresh begins to read a base that is due, as [policy.Entry.Refresh] does.
func (p *Publisher) refresh(key policy.Key, entry *policy.Entry, fetch origin.Fetch) (done <-chan struct{}) {
	have := entry.Good()
	return entry.Refresh(policy.Freshness{Default: baseLife, Min: time.Minute, Max: policy.MaxAge}, func() policy.Answer {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		timer := time.AfterFunc(baseWait, func() { cancel(origin.ErrFetchTimeout) })
		defer timer.Stop()
		answer := usable(fetch(ctx, have))
		answer.Of = have
		return answer
	}, p.onRead(key))
}

// isUsable reports whether what was read last can be built on.
func isUsable(s *policy.State) bool {
	return s != nil && s.Failures == 0 && s.Good != nil
}

// onRead returns what tells the owner that a base cannot be used any more, or
// again.
func (p *Publisher) onRead(key policy.Key) func(before, after policy.State) {
	return func(before, after policy.State) {
		if !isUsable(&after) {
			p.Observer.TextFailed(StageBase)
		}
		log := p.Logger.With(zap.String("base", key.String()))
		known := before.Failures > 0 || before.Good != nil
		switch {
		case isUsable(&after) && known && !isUsable(&before):
			log.Log(levelFor(key.Segment(), zap.InfoLevel), "the base of the robots.txt can be read again")
		case isUsable(&after), known && !isUsable(&before): // it was told before
		default:
			log.Log(levelFor(key.Segment(), zap.WarnLevel), "the base of the robots.txt cannot be read; "+baseInUse(after), zap.Int("status", after.Status), zap.Error(after.Err))
		}
	}
}

// levelFor returns the level of what is logged about a site: hosts that clients
// invent must not fill the log.
func levelFor(segment policy.Segment, level zapcore.Level) zapcore.Level {
	if segment == policy.Invented {
		return zap.DebugLevel
	}
	return level
}

func baseInUse(s policy.State) string {
	if s.Good != nil {
		return "the last good one is used"
	}
	return "what the site answers is passed on without the rules of robots_txt; if there is none to build on, write base none"
}
