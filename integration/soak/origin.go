package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"
)

// outage is a way in which an origin fails.
type outage int32

const (
	none outage = iota
	fails
	resets
	hangs // for robots.txt only
	outages
)

// origin is the server behind the proxied sites.
type origin struct {
	server  *httptest.Server
	version atomic.Int64 // of its robots.txt
	outage  atomic.Int32
}

func startOrigin() *origin {
	o := new(origin)
	o.server = httptest.NewServer(http.HandlerFunc(o.serve))
	return o
}

func (o *origin) address() string { return o.server.Listener.Addr().String() }

func (o *origin) close() {
	o.server.CloseClientConnections()
	o.server.Close()
}

func (o *origin) serve(w http.ResponseWriter, r *http.Request) {
	now, robots := outage(o.outage.Load()), r.URL.Path == "/robots.txt"
	switch {
	case now == fails:
		http.Error(w, "broken", http.StatusInternalServerError)
	case now == resets:
		panic(http.ErrAbortHandler)
	case robots:
		if now == hangs {
			rest(r.Context(), 3*time.Second) // longer than fetch_timeout
		}
		fmt.Fprint(w, robotsText(o.version.Load()))
	default:
		fmt.Fprintf(w, "page %s", r.URL.Path)
	}
}

// robotsText returns one version of the robots.txt of all sites. Odd versions also
// disallow /new/.
func robotsText(version int64) string {
	more := ""
	if version%2 == 1 {
		more = "Disallow: /new/\n"
	}
	return fmt.Sprintf("# version %d\nUser-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nCrawl-delay: 1\nDisallow: /private/\n%s", version, more)
}

// change changes the robots.txt files, the registry and the origin's state, and reloads
// the configuration. It does so at each interval until ctx ends, and returns the number
// of changes.
func (s *server) change(ctx context.Context, every time.Duration) (n int64, err error) {
	for ; rest(ctx, every); n++ {
		if err := s.publish(n); err != nil {
			return n, err
		}
		s.origin.version.Store(n)
		s.origin.outage.Store(int32(n % int64(outages)))
		if _, err := s.ask(http.MethodPost, "/load", s.caddyfile); err != nil {
			return n, err
		}
	}
	return n, nil
}
