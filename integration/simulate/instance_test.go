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
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/internal/store"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// instance is a server: a process with its memory, the guard of its configuration, and the
// store by which it knows of others.
type instance struct {
	id     string
	world  *world
	server *caddyhttp.Server
	sites  *request.Sites

	state   *guard.State
	guard   *guard.Guard
	store   *store.Store // nil without a storage
	storage *link
	stored  chan struct{}      // closed once it has read what is stored
	end     context.CancelFunc // of the configuration
	born    time.Time
	asked   int                       // requests since then
	saw     map[*site]*served         // what the guard got last, and since when
	got     map[*site]map[string]look // all that it got by itself, "" for no file

	published *published        // nil where nobody publishes
	told      *managed.Schedule // what the owner has wanted as it heard last
	unsaid    bool              // which it has not submitted yet

	bornBlind bool                    // it began without the storage
	blank     bool                    // it has not read yet what it has stored
	dirty     atomic.Bool             // there may be something to be written
	kept      time.Time               // when that was last
	noted     time.Time               // when it last wrote what others look for
	heard     map[*instance]time.Time // the same of others, as far as it knows
}

// start begins a process with nothing but what is stored.
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
	if i.store != nil { // not before it is known what is guarded, of which alone it takes in what was served
		i.store.Read(context.Background())
	}
	close(i.stored)
}

// look is when the guard got a text by itself for the first and the last time, and when it got
// another one then, if it has.
type look struct{ first, last, ended time.Time }

// lasted returns for how long the guard got the text.
func (l look) lasted() time.Duration {
	if l.ended.IsZero() {
		return time.Since(l.first)
	}
	return l.ended.Sub(l.first)
}

// gets notes that the guard got a text by itself.
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

// sawText notes that the guard got a text.
func (i *instance) sawText(s *site, text string) {
	if i.saw[s] == nil || i.saw[s].text != text || i.saw[s].first.Before(s.settled) {
		i.saw[s] = &served{text: text, first: time.Now()}
	}
	i.saw[s].last = time.Now()
}

// over returns since when the guard may take a text for one that is not served any more:
// others may have told it of the next one. ok is false if it never got it.
func (i *instance) over(s *site, text string) (since time.Time, ok bool) {
	l, ok := i.got[s][text]
	if i.storage != nil {
		return l.last, ok
	}
	return l.ended, ok
}

// load begins a configuration.
func (i *instance) load() {
	ctx, end := context.WithCancel(context.Background())
	c := guard.Config{
		Settings: judge.Settings{Enforce: true},
		Source:   i, FetchTimeout: 5 * time.Second, FetchWait: 250 * time.Millisecond,
		Freshness: policy.Freshness{Min: time.Minute, Max: policy.MaxAge, Default: 10 * time.Minute},
		Grace:     policy.MaxAge, ChangeGuard: i.world.changeGuard,
		Registry: uaident.NewCurrent(uaident.Default()), Identity: &identity.Checker{Logger: zap.NewNop(), Verifier: i.world.verifier}, Sites: i.sites, Logger: zap.NewNop(),
		Refuse: func(w http.ResponseWriter, r *http.Request, j *guard.Judgement, _ caddyhttp.Handler) error {
			if j.Action == judge.Slowed {
				return guard.Refuse(w, r, j, http.StatusForbidden)
			}
			w.WriteHeader(http.StatusForbidden)
			return nil
		},
	}
	c.Settings.Wildcard, _ = judge.ParseClasses(nil)
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
	i.state.Reread(ctx)
	i.dirty.Store(true)
	if before != nil {
		before()
	}
}

// crash ends the process without a word.
func (i *instance) crash() {
	i.losesBases()
	i.end()
	i.end = nil
	_ = i.state.Destruct()
	i.start()
}

// isDirty reports whether there may be something to be written, if only that what is written
// still holds.
func (i *instance) isDirty() bool {
	return i.store != nil && (i.dirty.Load() || i.blank || time.Since(i.kept) > time.Hour)
}

// keep does what the store does every two seconds, where there may be something to be
// written.
func (i *instance) keep() {
	if !i.isDirty() {
		return
	}
	i.dirty.Store(i.storage.cut.Load())
	i.kept = time.Now()
	i.storage.SetNow(i.kept)
	i.store.Write(context.Background())
}

// learn takes in what others have noted, if they have. A store looks at those of whom it
// has not heard for a day every ten minutes only, which is one look in forty: between two
// events there is time for that.
func (i *instance) learn() {
	if i.store == nil || i.storage.cut.Load() {
		return
	}
	looks, news := 1, i.blank || i.world.changeGuard > 0 // what is held back may come before its version
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

// look takes in what others have noted, if anything: from when it looked last an
// instance tells whether their clocks are right.
func (i *instance) look() {
	if i.store != nil && !i.storage.cut.Load() && i.world.skewed {
		i.store.Sync(context.Background())
	}
}

// request returns a request as it comes to the server.
func (i *instance) request(w http.ResponseWriter, host, path string) *http.Request {
	u, err := url.ParseRequestURI(path)
	if err != nil {
		panic(err) // a world asks for no other
	}
	r := &http.Request{
		Method: http.MethodGet, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Host: host, URL: u, RequestURI: path,
		Header: make(http.Header, 1), Body: http.NoBody, RemoteAddr: "192.0.2.1:1234",
	}
	return caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, i.server)
}

// ask sends a request and returns the answer.
func (i *instance) ask(agent, address, host, path string) *httptest.ResponseRecorder {
	i.asked++
	if i.world.holdsRates || i.world.changeGuard > 0 { // which remember pages, too
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

// send is ask for a request that is counted by nobody, or by who sends it.
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
