package guard

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// scriptedSource is a source whose responses a test sets.
type scriptedSource struct {
	answer func(ctx context.Context) policy.FetchResult
	reads  atomic.Int32
}

func (s *scriptedSource) Prepare(*http.Request, policy.Key) (site.FetchFunc, bool) {
	return func(ctx context.Context, _ *policy.Version) policy.FetchResult {
		s.reads.Add(1)
		return s.answer(ctx)
	}, true
}

func serving(text string) *scriptedSource {
	return &scriptedSource{answer: func(context.Context) policy.FetchResult {
		return policy.FetchResult{Status: http.StatusOK, Body: []byte(text)}
	}}
}

// readAs refreshes an entry with the given response. It first waits for a running
// fetch, because a request that waited for the first copy continues slightly before the
// fetch ends.
func readAs(entry *policy.Entry, f policy.FreshnessPolicy, fetch func() policy.FetchResult) {
	for read := false; !read; {
		entry.MakeDue()
		if done := entry.Refresh(f, func() policy.FetchResult { read = true; return fetch() }, nil); done != nil {
			<-done
		}
	}
}

// options are the options of robots_guard in a test.
type options struct {
	Enforce                               bool
	Wildcard, Exempt, OnlyLog             []string
	Unreachable                           policy.Fallback
	FetchTimeout, FetchWait, Grace, Guard time.Duration // the default of Grace is a day
	SourceKey                             string
	Shadow                                site.Source // served as next.txt
	Rate                                  *rate.Settings
}

// config returns the configuration of a guard with these options.
func (o options) config(t testing.TB) Config {
	t.Helper()
	registry := uaident.Default()
	c := Config{
		Settings: judge.Settings{Enforce: o.Enforce}, Fallback: o.Unreachable, SourceKey: o.SourceKey, Rate: o.Rate,
		FetchTimeout: cmp.Or(o.FetchTimeout, 5*time.Second), FetchWait: cmp.Or(o.FetchWait, 250*time.Millisecond),
		Freshness: policy.FreshnessPolicy{Min: time.Minute, Max: policy.MaxAge, Default: 10 * time.Minute},
		Shadow:    o.Shadow, ShadowKey: "next.txt", ShadowLife: time.Minute,
		Grace: max(0, cmp.Or(o.Grace, policy.MaxAge)), ChangeGuardTime: o.Guard,
		Registry: uaident.NewCurrentRegistry(registry), Identity: &identity.Checker{Logger: zap.NewNop()}, Sites: new(site.Sites), Logger: zap.NewNop(),
		RespondRefused: func(http.ResponseWriter, *http.Request, *Judgement, caddyhttp.Handler) error {
			return caddyhttp.Error(http.StatusForbidden, nil)
		},
	}
	for _, parse := range []func() (err error){
		func() (err error) { c.Settings.WildcardClasses, err = judge.ParseClasses(o.Wildcard); return err },
		func() (err error) { c.Settings.Exempt, err = judge.ParseClientSet(registry, o.Exempt, nil); return err },
		func() (err error) {
			c.Settings.OnlyLog, err = judge.ParseClientSet(registry, o.OnlyLog, nil)
			return err
		},
	} {
		if err := parse(); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// testGuard returns a guard with a new state.
func testGuard(t testing.TB, o options, s site.Source) *Guard {
	t.Helper()
	c := o.config(t)
	c.Source = s
	shared := NewState()
	t.Cleanup(func() { _ = shared.Destruct() })
	return New(context.Background(), shared, c)
}

// PathVerdict returns the path verdict for a request.
func (g *Guard) PathVerdict(r *http.Request, token string) PathVerdict {
	return g.pathVerdict(r, g.namedSite(r), token)
}

func requestBy(userAgent, target string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header.Set("User-Agent", userAgent)
	return r
}

// fetchDone starts a fetch of the robots.txt for a request and returns a channel that
// is closed at its end.
func fetchDone(g *Guard, r *http.Request) <-chan struct{} {
	key := keyFor(r)
	fetch, _ := g.Source.Prepare(r, keyFor(r))
	done := g.state.Cache.GetOrCreate(key, policy.UnknownHosts).Refresh(policy.FreshnessPolicy{Default: time.Hour, Max: time.Hour}, func() policy.FetchResult { return fetch(context.Background(), nil) }, nil)
	if done == nil {
		closed := make(chan struct{})
		close(closed)
		return closed
	}
	return done
}

// keyFor returns the key of the robots.txt for a request.
func keyFor(r *http.Request) policy.Key {
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return site.NewHosts(server).KeyForRequest(r)
}
