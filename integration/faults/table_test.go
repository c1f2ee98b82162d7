package faults

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// faultRules disallow the page that TestFaultTable requests.
const faultRules = "User-agent: *\nDisallow: /private/\n"

// bad writes the response of an origin.
type bad = func(*rawOrigin, *net.TCPConn, *http.Request)

// body returns a response with the given header fields.
func body(fields, text string) string { return "HTTP/1.1 200 OK\r\n" + fields + "\r\n" + text }

// sized returns a response with its Content-Length.
func sized(text string) string { return body(fmt.Sprintf("Content-Length: %d\r\n", len(text)), text) }

// leadsTo returns a redirect.
func leadsTo(location string) string {
	return "HTTP/1.1 302 Found\r\nLocation: " + location + "\r\nContent-Length: 0\r\n\r\n"
}

// hops redirects from /robots.txt to the rules in the given number of steps.
func hops(steps int) bad {
	return func(o *rawOrigin, conn *net.TCPConn, r *http.Request) {
		var at int
		_, _ = fmt.Sscanf(r.URL.RawQuery, "%d", &at)
		if at == steps {
			says(sized(faultRules))(o, conn, r)
			return
		}
		says(leadsTo(fmt.Sprintf("hop?%d", at+1)))(o, conn, r)
	}
}

// drips sends single bytes slowly and without an end.
func drips(first, again string) bad {
	return func(_ *rawOrigin, conn *net.TCPConn, _ *http.Request) {
		_, err := io.WriteString(conn, first)
		for i := 0; err == nil; i++ {
			_, err = conn.Write([]byte{again[i%len(again)]})
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// storms sends the given number of informational responses before the rules.
func storms(count int) bad {
	return func(o *rawOrigin, conn *net.TCPConn, r *http.Request) {
		const one = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
		for range count / 100 {
			if _, err := io.WriteString(conn, strings.Repeat(one, 50)); err != nil {
				return
			}
		}
		says(sized(faultRules))(o, conn, r)
	}
}

// bomb is 1 GB of compressed text that begins with the rules.
var bomb = sync.OnceValue(func() string {
	pack := func(text []byte) string {
		var packed bytes.Buffer
		zip := gzip.NewWriter(&packed)
		_, _ = zip.Write(text)
		_ = zip.Close()
		return packed.String()
	}
	return pack([]byte(faultRules)) + strings.Repeat(pack(bytes.Repeat([]byte("# a bomb"), 1<<17)), 1<<10)
})

// explodes responds with the first most bytes of the bomb, or all of it if most is 0.
func explodes(most int) bad {
	return func(o *rawOrigin, conn *net.TCPConn, r *http.Request) {
		text := bomb()
		if most > 0 {
			text = text[:most]
		}
		says(body("Content-Encoding: gzip\r\n", text))(o, conn, r)
	}
}

// Verdicts for a disallowed page after the fetch of robots.txt has ended.
const (
	forbidden = "disallowed" // the rules were fetched
	free      = "allowed"    // there is no robots.txt
	unknown   = "unknown"    // robots.txt is unavailable
)

// faults are the faults of origins and their meaning according to RFC 9309, section
// 2.3.1, and docs/judging.md.
var faults = []struct {
	name    string
	answer  bad
	verdict string
	options string // of reverse_proxy
	most    int64  // maximum requests of one fetch, 1 if 0; net/http retries some on other connections
	hangs   bool   // fetch_timeout ends the fetch
}{
	// Connections.
	{name: "hangs after the request", answer: saysAndHangs(""), verdict: unknown, hangs: true},
	{name: "hangs in the header", answer: saysAndHangs("HTTP/1.1 200 OK\r\nContent-Ty"), verdict: unknown, hangs: true},
	{name: "hangs after the header", answer: saysAndHangs(body("Content-Length: 100\r\n", "")), verdict: unknown, hangs: true},
	{name: "hangs in the body", answer: saysAndHangs(body("Content-Length: 100\r\n", faultRules)), verdict: unknown, hangs: true},
	{name: "hangs in a chunk", answer: saysAndHangs(body("Transfer-Encoding: chunked\r\n", "ff\r\n"+faultRules)), verdict: unknown, hangs: true},
	{name: "drips a header", answer: drips("HTTP/1.1 200 OK\r\n", "X-Drip: x\r\n"), verdict: unknown, hangs: true},
	{name: "drips a body", answer: drips(body("", ""), faultRules), verdict: unknown, hangs: true},
	{name: "closes before the header", answer: says(""), verdict: unknown, most: 20},
	{name: "resets before the header", answer: saysAndResets(""), verdict: unknown, most: 20},
	{name: "resets in the header", answer: saysAndResets("HTTP/1.1 200 OK\r\nContent-Ty"), verdict: unknown},
	{name: "resets in the body", answer: saysAndResets(body("Content-Length: 100\r\n", faultRules)), verdict: unknown},
	{name: "resets in a chunk", answer: saysAndResets(body("Transfer-Encoding: chunked\r\n", "ff\r\n"+faultRules)), verdict: unknown},
	{name: "closes between chunks", answer: says(body("Transfer-Encoding: chunked\r\n", "22\r\n"+faultRules+"\r\n")), verdict: unknown},

	// Sizes.
	{name: "10 GB with a length", answer: saysWithoutEnd(body("Content-Length: 10737418240\r\n", faultRules), strings.Repeat("# endless\n", 6000)), verdict: forbidden},
	{name: "10 GB in chunks", answer: saysWithoutEnd(body("Transfer-Encoding: chunked\r\n", "22\r\n"+faultRules+"\r\n"), strings.Repeat("a\r\n# endless\n\r\n", 4000)), verdict: forbidden},
	{name: "10 GB without a length", answer: saysWithoutEnd(body("", faultRules), strings.Repeat("# endless\n", 6000)), verdict: forbidden},
	{name: "10 GB in one line", answer: saysWithoutEnd(body("", faultRules), strings.Repeat("/", 60000)), verdict: forbidden},
	{name: "10 GB of not found", answer: saysWithoutEnd("HTTP/1.1 404 Not Found\r\n\r\n", strings.Repeat("# endless\n", 6000)), verdict: free},
	{name: "10 GB of failure", answer: saysWithoutEnd("HTTP/1.1 500 Failure\r\n\r\n", strings.Repeat("# endless\n", 6000)), verdict: unknown},
	{name: "a header without end", answer: saysWithoutEnd("HTTP/1.1 200 OK\r\nX-Endless: ", strings.Repeat("x", 60000)), verdict: unknown},
	{name: "fields without end", answer: saysWithoutEnd("HTTP/1.1 200 OK\r\n", strings.Repeat("X-Endless: x\r\n", 4000)), verdict: unknown},
	{name: "a header of 1 MB", answer: says(body("ETag: \""+strings.Repeat("x", 1<<20)+"\"\r\nContent-Length: 34\r\n", faultRules)), verdict: forbidden},
	{name: "a gzip bomb", answer: explodes(0), verdict: forbidden},
	{name: "a gzip bomb unasked", answer: explodes(0), verdict: forbidden, options: "transport http {\n compression off\n }"},
	{name: "invalid gzip", answer: says(body("Content-Encoding: gzip\r\n", faultRules)), verdict: unknown, options: "transport http {\n compression off\n }"},
	{name: "gzip that breaks off", answer: explodes(100), verdict: unknown, options: "transport http {\n compression off\n }"},

	// Lengths.
	{name: "longer than announced", answer: says(body("Content-Length: 34\r\n", faultRules+"Allow: /private/\n")), verdict: forbidden},
	{name: "shorter than announced", answer: says(body("Content-Length: 35\r\n", faultRules)), verdict: unknown},
	{name: "length and chunks", answer: says(body("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "22\r\n"+faultRules+"\r\n0\r\n\r\n")), verdict: forbidden},
	{name: "two lengths", answer: says(body("Content-Length: 34\r\nContent-Length: 35\r\n", faultRules)), verdict: unknown},
	{name: "a negative length", answer: says(body("Content-Length: -1\r\n", faultRules)), verdict: unknown},
	{name: "chunks with an invalid size", answer: says(body("Transfer-Encoding: chunked\r\n", "zz\r\n"+faultRules)), verdict: unknown},

	// Statuses.
	{name: "1xx storm", answer: storms(5000), verdict: forbidden},
	{name: "1xx without end", answer: storms(1 << 40), verdict: unknown, hangs: true},
	{name: "another protocol", answer: says("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n" + faultRules), verdict: free}, // Caddy converts it to an empty 200
	{name: "not HTTP", answer: says("SSH-2.0-OpenSSH_9.2\r\n"), verdict: unknown},
	{name: "status 000", answer: says("HTTP/1.1 000 Nothing\r\nContent-Length: 34\r\n\r\n" + faultRules), verdict: unknown},
	{name: "status 999", answer: says("HTTP/1.1 999 Denied\r\nContent-Length: 34\r\n\r\n" + faultRules), verdict: unknown},
	{name: "status 500", answer: says("HTTP/1.1 500 Failure\r\nContent-Length: 34\r\n\r\n" + faultRules), verdict: unknown},

	// Redirects.
	{name: "five redirects", answer: hops(5), verdict: forbidden, most: 6},
	{name: "six redirects", answer: hops(6), verdict: free, most: 6},
	{name: "endless redirects", answer: hops(1 << 30), verdict: free, most: 6},
	{name: "to itself", answer: says(leadsTo("/robots.txt")), verdict: free},
	{name: "to an empty location", answer: says(leadsTo("")), verdict: free},
	{name: "to a private address", answer: says(leadsTo("http://127.0.0.1:1/robots.txt")), verdict: unknown},
}

const faultSite = `http://$HOST:$PORT {
	robots_guard enforce {
		fetch_timeout $TIMEOUT
		fetch_wait $WAIT
	}
	header >X-Verdict {http.robots_guard.verdict}
	reverse_proxy $ORIGIN {
		health_uri /healthz
		health_interval 1s
		health_timeout 50s
		fail_duration 1h
		max_fails 1
		unhealthy_status 5xx
		unhealthy_latency 20s
		$OPTIONS
	}
}
`

// TestFaultTable runs all faulty origins behind one server. Each fetch of robots.txt
// must end with the expected result and leave the site available for browsers. A single
// recorded failure would make the upstream unavailable for an hour.
func TestFaultTable(t *testing.T) {
	t.Parallel()
	var sites strings.Builder
	origins := make([]*rawOrigin, len(faults))
	for i, row := range faults {
		timeout := "50s" // longer than needed
		if row.hangs {
			timeout = "2s"
		}
		origins[i] = newRawOrigin(t, row.answer)
		sites.WriteString(strings.NewReplacer("$HOST", fmt.Sprintf("s%d.test", i), "$ORIGIN", origins[i].address(), "$OPTIONS", row.options,
			"$TIMEOUT", timeout, "$WAIT", timeout).Replace(faultSite))
	}
	s := harness.Serve(t, sites.String())
	waits := harness.NewClient(false)
	waits.Timeout = 2 * harness.Patience
	t.Run("rows", func(t *testing.T) {
		for i, row := range faults {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				site, o := fmt.Sprintf("http://s%d.test/", i), origins[i]
				browse := func(when string) {
					t.Helper()
					if a := harness.Get(t, s.URL(site+"private/x"), harness.Firefox); a.Status != 200 || a.Body != "origin /private/x" {
						t.Errorf("%s a browser got %d %q", when, a.Status, a.Body)
					}
				}
				var over atomic.Bool
				done := make(chan harness.Answer, 1)
				go func() {
					a, err := harness.Try(waits, s.URL(site+"private/x"), harness.Bingbot)
					if err != nil {
						t.Error(err)
					}
					over.Store(true)
					done <- a
				}()
				for !over.Load() {
					browse("meanwhile")
					time.Sleep(50 * time.Millisecond)
				}
				status := http.StatusOK
				if row.verdict == forbidden {
					status = http.StatusForbidden
				}
				if a := <-done; a.Status != status || a.Header.Get("X-Verdict") != row.verdict {
					t.Errorf("a crawler got %d, verdict %q, want %d, %q", a.Status, a.Header.Get("X-Verdict"), status, row.verdict)
				}
				harness.Eventually(t, "the origin is left alone", func() bool { return o.asked.Load() == o.ended.Load() })
				if n := o.sent.Load(); n > 64<<20 {
					t.Errorf("the origin sent %d bytes", n)
				}
				if n := o.asked.Load(); n < 1 || n > max(row.most, 1) {
					t.Errorf("the origin got %d requests", n)
				}
				browse("afterwards")
			})
		}
	})
	s.Kill()
	if most, ok := harness.MaxRSS(s.State()); ok && most > 400<<20 {
		t.Errorf("the server used %d MB", most>>20)
	} else {
		t.Logf("the server used %d MB", most>>20)
	}
}
