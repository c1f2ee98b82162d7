package simulate

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	guardsite "github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/internal/store"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// instance is a server: a process with its state, a guard, and a store that connects it
// to other instances.
type instance struct {
	id     string
	world  *world
	server *caddyhttp.Server
	sites  *guardsite.Sites

	state   *guard.State
	guard   *guard.Guard
	store   *store.Store // nil without a storage
	storage *link
	stored  chan struct{}      // closed once the stored data has been read
	end     context.CancelFunc // of the configuration
	born    time.Time
	asked   int                       // number of requests since born
	saw     map[*site]*served         // the file that the guard fetched last, and since when
	got     map[*site]map[string]look // all files that the guard fetched itself, "" for no file

	published *published        // nil if robots.txt files are not managed
	told      *managed.Schedule // the owner's rules, as this instance last received them
	unsaid    bool              // told has not been submitted yet

	bornBlind bool                    // the storage was unreachable at the start
	blank     bool                    // the stored data has not been read yet
	dirty     atomic.Bool             // there may be data to store
	kept      time.Time               // when data was last stored
	noted     time.Time               // when it last stored data that other instances load
	heard     map[*instance]time.Time // the value of noted of other instances at the last load
}

// start starts a process. Its only data comes from the storage.
func (i *instance) start() {
	i.state, i.born, i.asked, i.saw = guard.NewState(), time.Now(), 0, make(map[*site]*served)
	i.got = make(map[*site]map[string]look)
	if i.storage != nil {
		i.store = store.New(store.Options{
			Storage: i.storage, Instance: i.id, Memory: i.state.Memory, Observer: i.state.Metrics, Logger: zap.NewNop(), MaxPolicies: 100,
		})
		i.blank = i.storage.cut.Load()
		i.bornBlind = i.blank
		i.heard = make(map[*instance]time.Time)
		for _, other := range i.world.instances {
			i.heard[other] = other.noted
		}
	}
	i.stored = make(chan struct{})
	i.load()
	if i.store != nil { // after load, because the store reads robots fetches only of guarded hosts
		i.store.Read(context.Background())
	}
	close(i.stored)
}

// look records when the guard itself fetched a file first and last, and when it then
// fetched a different file, if it has.
type look struct{ first, last, ended time.Time }

// lasted returns how long the guard fetched the same file.
func (l look) lasted() time.Duration {
	if l.ended.IsZero() {
		return time.Since(l.first)
	}
	return l.ended.Sub(l.first)
}

// gets records that the guard itself fetched a file.
func (i *instance) gets(s *site, text string) {
	if i.got[s] == nil {
		i.got[s] = make(map[string]look)
	}
	for before, l := range i.got[s] {
		if before != text && l.ended.IsZero() {
			l.ended = time.Now()
			i.got[s][before] = l
		}
	}
	l := look{first: time.Now(), last: time.Now()}
	if before, ok := i.got[s][text]; ok && before.ended.IsZero() {
		l.first = before.first
	}
	i.got[s][text] = l
}

// sawText records the file that the guard fetched.
func (i *instance) sawText(s *site, text string) {
	if i.saw[s] == nil || i.saw[s].text != text || i.saw[s].first.Before(s.settled) {
		i.saw[s] = &served{text: text, first: time.Now()}
	}
	i.saw[s].last = time.Now()
}

// over returns since when the guard may assume that a file is no longer served. Other
// instances may have reported its successor. ok is false if the guard never fetched the
// file.
func (i *instance) over(s *site, text string) (since time.Time, ok bool) {
	l, ok := i.got[s][text]
	if i.storage != nil {
		return l.last, ok
	}
	return l.ended, ok
}

// load loads a configuration.
func (i *instance) load() {
	ctx, end := context.WithCancel(context.Background())
	c := guard.Config{
		Settings: judge.Settings{Enforce: true},
		Source:   i, FetchTimeout: 5 * time.Second, FetchWait: 250 * time.Millisecond,
		Freshness: policy.FreshnessPolicy{Min: time.Minute, Max: policy.MaxAge, Default: 10 * time.Minute},
		Grace:     policy.MaxAge, ChangeGuardTime: i.world.changeGuard,
		Registry: uaident.NewCurrentRegistry(uaident.Default()), Identity: &identity.Checker{Logger: zap.NewNop(), Verifier: i.world.verifier}, Sites: i.sites, Logger: zap.NewNop(),
		RespondRefused: func(w http.ResponseWriter, r *http.Request, j *guard.Judgement, _ caddyhttp.Handler) error {
			if j.Action == judge.Slowed {
				return guard.Refuse(w, r, j, http.StatusForbidden)
			}
			w.WriteHeader(http.StatusForbidden)
			return nil
		},
	}
	c.Settings.WildcardClasses, _ = judge.ParseClasses(nil)
	c.Rate = i.world.rateSettings()
	before := i.end
	i.end = end
	if i.world.owner != nil {
		stop := i.publish(ctx)
		i.end = func() {
			end()
			stop()
		}
	}
	i.guard = guard.New(ctx, i.state, c)
	i.state.RefetchAll(ctx)
	i.dirty.Store(true)
	if before != nil {
		before()
	}
}

// crash ends the process without saving.
func (i *instance) crash() {
	i.losesBases()
	i.end()
	i.end = nil
	_ = i.state.Destruct()
	i.start()
}

// isDirty reports whether there may be data to store. Stored data is also refreshed
// once an hour.
func (i *instance) isDirty() bool {
	return i.store != nil && (i.dirty.Load() || i.blank || time.Since(i.kept) > time.Hour)
}

// keep does what the store does every two seconds, if there may be data to store.
func (i *instance) keep() {
	if !i.isDirty() {
		return
	}
	i.dirty.Store(i.storage.cut.Load())
	i.kept = time.Now()
	i.storage.SetNow(i.kept)
	i.store.Write(context.Background())
}

// learn loads the data of other instances if they have stored any. A store checks an
// instance that has been silent for a day only every ten minutes, which is one check in
// forty. There is enough time for that between two events.
func (i *instance) learn() {
	if i.store == nil || i.storage.cut.Load() {
		return
	}
	looks, news := 1, i.blank || i.world.changeGuard > 0 // a deferred change may be stored before its version
	i.blank = false
	for _, other := range i.world.instances {
		if other == i || !other.noted.After(i.heard[other]) {
			continue
		}
		if time.Since(i.heard[other]) > 24*time.Hour {
			looks = 40
		}
		i.heard[other], news = other.noted, true
	}
	if !news {
		return
	}
	for range looks {
		i.store.Sync(context.Background())
	}
	i.dirty.Store(true)
}

// look loads the data of other instances. The times of these loads show an instance
// whether other clocks are right.
func (i *instance) look() {
	if i.store != nil && !i.storage.cut.Load() && i.world.skewed {
		i.store.Sync(context.Background())
	}
}

// request returns a request as the server receives it.
func (i *instance) request(w http.ResponseWriter, host, path string) *http.Request {
	u, err := url.ParseRequestURI(path)
	if err != nil {
		panic(err) // the simulation uses only valid paths
	}
	r := &http.Request{
		Method: http.MethodGet, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Host: host, URL: u, RequestURI: path,
		Header: make(http.Header, 1), Body: http.NoBody, RemoteAddr: "192.0.2.1:1234",
	}
	return caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, i.server)
}

// ask sends a request and returns the response.
func (i *instance) ask(agent, address, host, path string) *httptest.ResponseRecorder {
	i.asked++
	if i.world.holdsRates || i.world.changeGuard > 0 { // these store data for requests of pages as well
		i.dirty.Store(true)
	}
	w := i.send(agent, address, host, path)
	slowed := w.Header().Get("RateLimit") != ""
	if i.world.mayBeSlow(strings.TrimSuffix(agent, "/1.0")) && (w.Code == http.StatusNoContent || slowed || i.world.isStep(host, path)) {
		i.world.paceOf(i, i.world.site(host)).asks(i.world, i, slowed)
	}
	if slowed {
		i.world.tell("%s is answered 429 at %s: %s", agent, i.id, w.Header()["Ratelimit"])
	}
	return w
}

// send is like ask, but does not count the request.
func (i *instance) send(agent, address, host, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := i.request(w, host, path)
	r.Header.Set("User-Agent", agent)
	r.RemoteAddr = address + ":4711"
	caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, address)
	if err := i.guard.Serve(w, r, i); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
	return w
}
