package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// hang is how long an origin that hangs takes for its robots.txt, more than the
// guard has patience for.
const hang = 3 * time.Second

// origin is an HTTP server behind a site. It does what its facts say.
type origin struct {
	address string
	text    *fact[text]
	state   *fact[state]

	mu     sync.Mutex
	server *http.Server // nil while it refuses connections
}

// startOrigin starts an origin on a port of its own.
func startOrigin(text *fact[text], state *fact[state]) (*origin, error) {
	o := &origin{text: text, state: state, address: "127.0.0.1:0"}
	return o, o.listen()
}

func (o *origin) listen() error {
	listener, err := net.Listen("tcp", o.address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.HandlerFunc(o.serve), ReadHeaderTimeout: time.Minute}
	o.mu.Lock()
	o.address, o.server = listener.Addr().String(), server
	o.mu.Unlock()
	go func() { _ = server.Serve(listener) }() // ends with close
	return nil
}

// close makes the origin refuse connections.
func (o *origin) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.server != nil {
		_ = o.server.Close()
		o.server = nil
	}
}

func (o *origin) serve(w http.ResponseWriter, r *http.Request) {
	robots := r.URL.Path == "/robots.txt"
	switch s := o.state.last(); {
	case s == all500, s == robots500 && robots:
		http.Error(w, "broken", http.StatusInternalServerError)
	case s == robotsReset && robots:
		panic(http.ErrAbortHandler)
	case robots:
		if s == robotsHang {
			rest(r.Context(), hang)
		}
		fmt.Fprint(w, o.text.last())
	default:
		fmt.Fprintf(w, "page %s", r.URL.Path)
	}
}

// rest waits for a time, or less if ctx ends, and reports whether it was all.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
