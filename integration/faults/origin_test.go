package faults

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// rawOrigin is an origin that writes its responses byte by byte, valid or invalid. It
// responds normally to requests for pages and health checks. The table determines its
// responses for robots.txt and for the targets of redirects.
type rawOrigin struct {
	listener net.Listener
	answer   func(o *rawOrigin, conn *net.TCPConn, r *http.Request)
	asked    atomic.Int64 // requests for robots.txt and redirect targets
	ended    atomic.Int64 // responses to these requests
	sent     atomic.Int64 // bytes of these responses, if the row counts them

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// newRawOrigin starts an origin with the given response for robots.txt. The origin
// closes the connection after it.
func newRawOrigin(t *testing.T, answer func(*rawOrigin, *net.TCPConn, *http.Request)) *rawOrigin {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &rawOrigin{listener: l, answer: answer, conns: make(map[net.Conn]bool)}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if !o.keep(conn) {
				return
			}
			running.Go(func() { o.serve(conn.(*net.TCPConn)) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		o.mu.Lock()
		for conn := range o.conns {
			_ = conn.Close()
		}
		o.conns = nil
		o.mu.Unlock()
		running.Wait()
	})
	return o
}

// keep registers a connection, and closes it if the test has ended.
func (o *rawOrigin) keep(conn net.Conn) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.conns == nil {
		_ = conn.Close()
		return false
	}
	o.conns[conn] = true
	return true
}

func (o *rawOrigin) serve(conn *net.TCPConn) {
	defer func() {
		_ = conn.Close()
		o.mu.Lock()
		delete(o.conns, conn)
		o.mu.Unlock()
	}()
	for from := bufio.NewReader(conn); ; {
		r, err := http.ReadRequest(from)
		if err != nil {
			return
		}
		if harness.IsSelfTest(r) {
			fmt.Fprint(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
			continue
		}
		if r.URL.Path == "/robots.txt" || r.URL.Path == "/hop" {
			o.asked.Add(1)
			o.answer(o, conn, r)
			_ = conn.Close()
			o.ended.Add(1)
			return
		}
		body := "origin " + r.URL.Path
		if _, err := fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			return
		}
	}
}

// address returns the host and port.
func (o *rawOrigin) address() string { return o.listener.Addr().String() }

// says returns a function that responds with the given bytes.
func says(answer string) func(*rawOrigin, *net.TCPConn, *http.Request) {
	return func(_ *rawOrigin, conn *net.TCPConn, _ *http.Request) { _, _ = io.WriteString(conn, answer) }
}

// saysAndHangs returns a function that responds with the given bytes and then hangs
// until the other side closes the connection.
func saysAndHangs(answer string) func(*rawOrigin, *net.TCPConn, *http.Request) {
	return func(_ *rawOrigin, conn *net.TCPConn, _ *http.Request) {
		_, _ = io.WriteString(conn, answer)
		_, _ = io.Copy(io.Discard, conn)
	}
}

// saysAndResets returns a function that responds with the given bytes and resets the
// connection.
func saysAndResets(answer string) func(*rawOrigin, *net.TCPConn, *http.Request) {
	return func(_ *rawOrigin, conn *net.TCPConn, _ *http.Request) {
		_, _ = io.WriteString(conn, answer)
		_ = conn.SetLinger(0)
	}
}

// saysWithoutEnd returns a function that responds with the given bytes, then repeats
// again up to 10 GB. It counts the bytes that were sent.
func saysWithoutEnd(answer, again string) func(*rawOrigin, *net.TCPConn, *http.Request) {
	return func(o *rawOrigin, conn *net.TCPConn, _ *http.Request) {
		n, err := io.WriteString(conn, answer)
		for err == nil && o.sent.Add(int64(n)) < 10<<30 {
			n, err = io.WriteString(conn, again)
		}
		o.sent.Add(int64(n))
	}
}
