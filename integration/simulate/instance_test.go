package simulate

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/internal/store"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
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
	end     context.CancelFunc // of the configuration
	born    time.Time
	asked   int                       // requests since then
	saw     map[*site]*served         // what the guard got last, and since when
	got     map[*site]map[string]look // all that it got by itself, "" for no file

	dirty bool                    // there may be something to be written
	noted time.Time               // when it last wrote what others look for
	heard map[*instance]time.Time // the same of others, as far as it knows
}

// link is an instance's way to the storage that all share.
type link struct {
	*storetest.Storage
	of   *instance
	cut  bool
	last time.Time     // when it was found to be cut
	skew time.Duration // by which the clock of the instance is ahead
}

var errCut = errors.New("the storage cannot be reached")

func (l *link) Store(ctx context.Context, key string, value []byte) error {
	if l.cut {
		return errCut
	}
	if strings.Contains(key, "/readers/") || strings.Contains(key, "/changes/") {
		l.of.noted = time.Now()
	}
	return l.Storage.Store(ctx, key, shifted(value, l.skew))
}

func (l *link) Load(ctx context.Context, key string) ([]byte, error) {
	if l.cut {
		return nil, errCut
	}
	value, err := l.Storage.Load(ctx, key)
	return shifted(value, -l.skew), err
}

func (l *link) List(ctx context.Context, path string, recursive bool) ([]string, error) {
	if l.cut {
		return nil, errCut
	}
	return l.Storage.List(ctx, path, recursive)
}

func (l *link) Stat(ctx context.Context, key string) (int64, time.Time, error) {
	if l.cut {
		return 0, time.Time{}, errCut
	}
	size, modified, err := l.Storage.Stat(ctx, key)
	return size, modified.Add(-l.skew), err
}

func (l *link) Delete(ctx context.Context, key string) error {
	if l.cut {
		return errCut
	}
	return l.Storage.Delete(ctx, key)
}

// start begins a process with nothing but what is stored.
func (i *instance) start() {
	i.state, i.born, i.asked, i.saw = guard.NewState(), time.Now(), 0, make(map[*site]*served)
	i.got = make(map[*site]map[string]look)
	if i.storage != nil {
		i.store = store.New(store.Options{
			Storage: i.storage, Instance: i.id, Memory: i.state.Memory, Observer: i.state.Metrics, Logger: zap.NewNop(), Policies: 100,
		})
		i.store.Read(context.Background())
		i.heard = make(map[*instance]time.Time)
		for _, other := range i.world.instances {
			i.heard[other] = other.noted
		}
	}
	i.load()
}

// look is when the guard got a text by itself for the last time, and when it got another
// one then, if it has.
type look struct{ last, ended time.Time }

// gets notes that the guard got a text by itself.
func (i *instance) gets(s *site, text string) {
	if i.got[s] == nil {
		i.got[s] = make(map[string]look)
	}
	for before, l := range i.got[s] {
		if l.ended.IsZero() {
			i.got[s][before] = look{l.last, time.Now()}
		}
	}
	i.got[s][text] = look{last: time.Now()}
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
		Refuse: func(w http.ResponseWriter, _ *http.Request, _ *guard.Judgement, _ caddyhttp.Handler) error {
			w.WriteHeader(http.StatusForbidden)
			return nil
		},
	}
	c.Settings.Wildcard, _ = judge.ParseClasses(nil)
	before := i.end
	i.guard, i.end = guard.New(ctx, i.state, c), end
	i.state.Reread(ctx)
	i.dirty = true
	if before != nil {
		before()
	}
}

// crash ends the process without a word.
func (i *instance) crash() {
	i.end()
	i.end = nil
	_ = i.state.Destruct()
	i.start()
}

// keep does what the store does every two seconds, where there may be something to be
// written.
func (i *instance) keep() {
	if i.store == nil || !i.dirty {
		return
	}
	i.dirty = i.storage.cut
	i.storage.Now = time.Now()
	i.store.Write(context.Background())
}

// learn takes in what others have noted, if they have. A store looks at those of whom it
// has not heard for a day every ten minutes only, which is one look in forty: between two
// events there is time for that.
func (i *instance) learn() {
	if i.store == nil || i.storage.cut {
		return
	}
	looks, news := 1, i.world.changeGuard > 0 // what is held back may come before its version
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
	i.dirty = true
}

// look takes in what others have noted, if anything: from when it looked last an
// instance tells whether their clocks are right.
func (i *instance) look() {
	if i.store != nil && !i.storage.cut && i.world.skewed {
		i.store.Sync(context.Background())
		i.dirty = true
	}
}

// ask sends a request and returns the answer.
func (i *instance) ask(agent, address, host, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "http://"+host+path, nil)
	r.RequestURI = path
	r.Header.Set("User-Agent", agent)
	r.RemoteAddr = address + ":4711"
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, i.server)
	caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, address)
	i.asked++
	i.dirty = true
	if err := i.guard.Serve(w, r, i.world); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
	return w
}
