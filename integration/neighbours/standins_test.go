package neighbours

import (
	"bytes"
	"errors"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func init() {
	caddy.RegisterModule(cache{})
	caddy.RegisterModule(limiter{})
	caddy.RegisterModule(firewall{})
	httpcaddyfile.RegisterHandlerDirective("cache", parse(func() handler { return new(cache) }))
	httpcaddyfile.RegisterDirectiveOrder("cache", httpcaddyfile.Before, "rewrite")
	httpcaddyfile.RegisterHandlerDirective("rate_limit", parse(func() handler { return new(limiter) }))
	httpcaddyfile.RegisterDirectiveOrder("rate_limit", httpcaddyfile.Before, "basic_auth")
	httpcaddyfile.RegisterHandlerDirective("coraza_waf", parse(func() handler { return new(firewall) })) // without a handler order
}

// handler is a substitute with at most one argument.
type handler interface {
	caddyhttp.MiddlewareHandler
	set(word string)
}

func parse(make func() handler) httpcaddyfile.UnmarshalHandlerFunc {
	return func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		h.Next() // the name of the directive
		made := make()
		if h.NextArg() {
			made.set(h.Val())
		}
		if h.NextArg() || h.NextBlock(0) {
			return nil, h.ArgErr()
		}
		return made, nil
	}
}

// cache caches responses with status 200 to GET by host and path for all clients, as
// cache-handler does by default. It also treats all spellings of a path that a file
// system would accept as equal.
type cache struct {
	kept *sync.Map
}

type keptAnswer struct {
	header http.Header
	body   []byte
}

func (cache) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.cache", New: func() caddy.Module { return &cache{new(sync.Map)} }}
}

func (*cache) set(string) {}

func (c *cache) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if r.Method != http.MethodGet {
		return next.ServeHTTP(w, r)
	}
	key := r.Host + path.Clean(r.URL.Path)
	if kept, ok := c.kept.Load(key); ok {
		for name, values := range kept.(*keptAnswer).header {
			w.Header()[name] = values
		}
		w.Header().Set("X-Cache", "hit")
		_, err := w.Write(kept.(*keptAnswer).body)
		return err
	}
	rec := caddyhttp.NewResponseRecorder(w, new(bytes.Buffer), func(status int, header http.Header) bool {
		return status == http.StatusOK && !strings.Contains(header.Get("Cache-Control"), "no-store")
	})
	if err := next.ServeHTTP(rec, r); err != nil || !rec.Buffered() {
		return err
	}
	c.kept.Store(key, &keptAnswer{rec.Header().Clone(), bytes.Clone(rec.Buffer().Bytes())})
	return rec.WriteResponse()
}

// limiter allows three requests for each value of its key, as caddy-ratelimit does
// within a window.
type limiter struct {
	Key string `json:"key"`

	mu   *sync.Mutex
	seen map[string]int
}

func (limiter) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.rate_limit", New: func() caddy.Module { return &limiter{mu: new(sync.Mutex), seen: make(map[string]int)} }}
}

func (l *limiter) set(word string) { l.Key = word }

func (l *limiter) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	key := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer).ReplaceAll(l.Key, "")
	l.mu.Lock()
	l.seen[key]++
	over := l.seen[key] > 3
	l.mu.Unlock()
	if over {
		w.Header().Set("Retry-After", "60")
		return caddyhttp.Error(http.StatusTooManyRequests, errors.New("too many"))
	}
	return next.ServeHTTP(w, r)
}

// firewall rejects requests whose User-Agent contains a word, as a rule of coraza-caddy
// does.
type firewall struct {
	Word string `json:"word"`
}

func (firewall) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.waf", New: func() caddy.Module { return new(firewall) }}
}

func (f *firewall) set(word string) { f.Word = word }

func (f *firewall) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if strings.Contains(strings.ToLower(r.UserAgent()), f.Word) {
		return caddyhttp.Error(http.StatusForbidden, errors.New("a rule of the firewall"))
	}
	return next.ServeHTTP(w, r)
}
