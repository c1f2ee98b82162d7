package publish

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// instance is a server with the site a.test.
type instance struct {
	t        *testing.T
	name     string
	storage  Storage
	sites    *SiteHistories
	visits   atomic.Pointer[[]ledger.CrawlerVisit]
	reads    map[string]time.Time // last robots fetches of crawlers
	compare  func()               // called at each comparison of changes; may be nil
	base     string
	confirm  ConfirmationMode
	rollout  Rollout
	lacks    bool // a list was never read
	news     seen
	trials   *trials         // may be nil
	source   *ownText        // nil without a base
	stored   <-chan struct{} // closed after the first read of the storage; nil without a storage
	visited  <-chan struct{} // closed when visits are known; nil if always known
	registry *uaident.Registry
	bases    *policy.Cache
	ahead    time.Duration // lead of its clock
	listen   []string      // listeners of the server, if another server has the same host

	*Publisher
	end func()
}

// seen is an Observer that records events.
type seen struct {
	mu   sync.Mutex
	news []State
}

func (s *seen) OnChangeState(_ string, c Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.news = append(s.news, c.State)
}

func (s *seen) OnHistoryFailed(string, error) {}
func (s *seen) OnComposed(time.Duration)      {}
func (s *seen) OnPageRequested(bool)          {}
func (s *seen) OnPageFailed(string)           {}

// newInstance returns an instance without a configuration. Its last configuration ends with the test.
func newInstance(t *testing.T, storage Storage, name string) *instance {
	bounds := policy.Bounds{Entries: 10, Bytes: 1 << 20, ConcurrentFetches: 10}
	i := &instance{t: t, name: name, storage: storage, sites: new(SiteHistories), confirm: ConfirmSearch, registry: uaident.Default(),
		bases: policy.NewCache(bounds, bounds, time.Now, nil), end: func() {}}
	t.Cleanup(func() { i.end() })
	return i
}

// visitsNow returns the pages that search engines requested so far.
func (i *instance) visitsNow() []ledger.CrawlerVisit {
	if visits := i.visits.Load(); visits != nil {
		return *visits
	}
	return nil
}

// nobodyReads returns no robots fetches.
func nobodyReads(func(string) bool, time.Time) []string { return nil }

func disallow(who string, paths ...string) managed.Rule {
	return managed.Rule{For: []string{who}, Paths: paths}
}

// load replaces the configuration with one that has these rules.
func (i *instance) load(rules ...managed.Rule) {
	i.t.Helper()
	s, err := managed.NewSchedule(i.registry, managed.Spec{Rules: rules})
	if err != nil {
		i.t.Fatal(err)
	}
	i.loadSchedule(s)
}

func (i *instance) loadSchedule(s *managed.Schedule) {
	stored := i.stored
	if stored == nil {
		stored = i.visited
	}
	c := Config{
		Schedule: s, LacksRules: i.lacks, RequestSites: i.sitesOf(), Bases: i.bases, Registry: i.registry, ConfirmationMode: i.confirm, Rollout: i.rollout, Storage: i.storage, Sites: i.sites,
		Instance: func() string { return i.name }, IsRunning: func() bool { return true },
		NewBaseLookup: func() func(string) []byte {
			if i.source != nil {
				return NewBaseLookup(i.bases)
			}
			return func(string) []byte { return []byte(i.base) }
		},
		Visits: func() []ledger.CrawlerVisit {
			if i.compare != nil {
				i.compare()
			}
			select {
			case <-i.visited:
				return i.visitsNow()
			default:
			}
			if i.visited != nil {
				return nil
			}
			return i.visitsNow()
		},
		StorageRead: stored,
		FetchedSince: func(has func(string) bool, since time.Time) (names []string) {
			for name, at := range i.reads {
				if has("a.test") && !at.Before(since) {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			return names
		},
		Now: func() time.Time { return time.Now().Add(i.ahead) }, Logger: zap.NewNop(), Observer: &i.news,
	}
	if i.trials != nil {
		c.Trials = i.trials
	}
	if i.source != nil {
		c.Source = i.source
	}
	i.Publisher = New(c)
	before := i.end
	i.end = i.Begin(HandlerPlace{Name: "a.test", Hosts: []string{"a.test"}})
	before()
	synctest.Wait()
}

// sitesOf distinguishes sites if several servers have the same host.
func (i *instance) sitesOf() *site.Sites {
	if i.listen == nil {
		return new(site.Sites)
	}
	other := &caddyhttp.Server{Routes: caddyhttp.RouteList{{Handlers: []caddyhttp.MiddlewareHandler{nil}}}}
	return &site.Sites{Servers: func() []*caddyhttp.Server { return []*caddyhttp.Server{other} }, IsGuard: func(caddyhttp.MiddlewareHandler) bool { return true }}
}

// text returns the served file of a host.
func (i *instance) text(host string) string {
	i.t.Helper()
	names := caddyhttp.MatchHost{"a.test", "b.test"}
	server := &caddyhttp.Server{Listen: i.listen, Routes: caddyhttp.RouteList{{MatcherSets: caddyhttp.MatcherSets{{&names}}, Handlers: []caddyhttp.MiddlewareHandler{nil}}}}
	r := httptest.NewRequest(http.MethodGet, "http://"+host+"/robots.txt", nil)
	page, _ := i.Page(r.WithContext(context.WithValue(r.Context(), caddyhttp.ServerCtxKey, server)))
	if page == nil {
		return ""
	}
	w := httptest.NewRecorder()
	page.Serve(w, r, time.Hour)
	return w.Body.String()
}

func (i *instance) serves(paths ...string) {
	i.t.Helper()
	text := i.text("a.test")
	for _, path := range []string{"/a", "/b", "/c"} {
		if has := strings.Contains(text, "Disallow: "+path+"\n"); has != slices.Contains(paths, path) {
			i.t.Errorf("%s serves %q, want %v", i.name, text, paths)
		}
	}
}

var ann = Decision{User: "ann", Reason: "it is meant"}

func acts(i *instance, verb string) error {
	_, err := i.ApplyAction(context.Background(), verb, "", ann)
	return err
}
