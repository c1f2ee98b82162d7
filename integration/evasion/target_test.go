package evasion

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestTargets sends raw request targets over TCP. If a spelling returns the disallowed
// file, a crawler must be blocked for that spelling.
func TestTargets(t *testing.T) {
	t.Parallel()
	const robots = "User-agent: *\nDisallow: /private/\nAllow: /public/\n"
	root := harness.Files(t, map[string]string{"robots.txt": robots, "private/x.txt": "SECRET", "public/y.txt": "public"})
	// An origin that treats as many spellings as possible as equal.
	sloppy := harness.NewOrigin(t, robots, func(w http.ResponseWriter, r *http.Request) bool {
		p, err := url.PathUnescape(r.URL.EscapedPath())
		if err == nil && path.Clean("/"+strings.ReplaceAll(p, `\`, "/")) == "/private/x.txt" {
			fmt.Fprint(w, "SECRET")
			return true
		}
		return false
	})
	for name, site := range map[string]string{
		"file_server":   "root $ROOT\n file_server",
		"reverse_proxy": "reverse_proxy $ORIGIN",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := harness.Serve(t, "http://a.test:$PORT, http://:$PORT {\n robots_guard enforce\n "+site+"\n}",
				"$ROOT", root, "$ORIGIN", sloppy.Address())
			s.Warm("/", "http://elsewhere.test/")
			served, refused := 0, 0
			for _, target := range harness.Spellings() {
				target = strings.ReplaceAll(target, "$PORT", s.Port)
				request := func(userAgent string) (int, string) {
					return harness.Raw(t, s, "GET "+target+" HTTP/1.1\r\nHost: a.test:"+s.Port+"\r\nUser-Agent: "+userAgent+"\r\nConnection: close\r\n\r\n")
				}
				_, body := request(harness.Firefox)
				status, crawled := request(harness.Bingbot)
				if strings.Contains(crawled, "SECRET") {
					t.Errorf("%s: a crawler got the disallowed file", target)
				}
				if strings.Contains(body, "SECRET") {
					served++
					if status != 403 {
						t.Errorf("%s: a crawler got %d, but a browser gets the disallowed file", target, status)
					}
				} else if status == 403 {
					refused++
				}
			}
			t.Logf("%d spellings served, %d more refused", served, refused)
			if served < 30 {
				t.Errorf("only %d spellings reach the file; check the test's site", served)
			}
		})
	}
}

// TestTargetsRules tests rules about queries, escapes and ends of paths.
func TestTargetsRules(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, `http://a.test:$PORT, http://:$PORT {
		robots_guard enforce
		handle /robots.txt {
			respond <<R
				User-agent: *
				Disallow: /*?secret=
				Disallow: /*.pdf$
				Disallow: /caf%C3%A9/
				Disallow: /wiki/AC/
				Allow: /wiki/AC%2FDC
				Disallow: /search?q=a%2Fb
				Disallow: /one%2Atwo
				Disallow: /closed
				Allow: /closed/but/this$
				R
		}
		handle {
			respond "page"
		}
	}`)
	s.Warm("/", "http://other.test/")
	for _, tc := range []struct {
		target string
		status int
	}{
		{"/?secret=1", 403},
		{"/x?secret=1", 403},
		{"/x?a=b&secret=1", 200},
		{"/x?%73ecret=1", 403},
		{"/x.pdf", 403},
		{"/x.pd%66", 403},
		{"/x.pdf?a", 200},
		{"/x.PDF", 200},
		{"/caf%c3%a9/", 403},
		{"/caf\xc3\xa9/", 403},
		{"/cafe/", 200},
		{"/wiki/AC%2FDC", 200},
		{"/wiki/AC/DC", 403},
		{"/search?q=a/b", 200}, // only the query as sent can be disallowed
		{"/search?q=a%2fb", 403},
		{"/search?q=ab", 200},
		{"/one*two", 403},
		{"/one%2atwo", 403},
		{"/onextwo", 200},
		{"/closed", 403},
		{"/closedforever", 403},
		{"/closed/but/this", 200},
		{"/closed/but/this?", 403},
		{"/x?u=/closed", 200},
		{"/x?u=http://a.test/closed", 200},
		{"/x#/closed", 200},
		{"/x#/../closed", 403}, // clients do not send dot segments, so the resolved path is evaluated
		{"http://a.test/closed", 403},
		{"http://a.test/open", 200},
		{"http://other.test/closed", 403},
		{"http://a.test?secret=", 403},
		{"/" + strings.Repeat("x", 7_000) + "?secret=", 403},
		{"/" + strings.Repeat("/", 7_000) + "closed", 403},
	} {
		request := "GET " + tc.target + " HTTP/1.1\r\nHost: a.test:" + s.Port + "\r\nUser-Agent: " + harness.Bingbot + "\r\nConnection: close\r\n\r\n"
		if status, body := harness.Raw(t, s, request); status != tc.status {
			t.Errorf("%.80s: got %d %.300q, want %d", tc.target, status, body, tc.status)
		}
	}
}

// TestTargetsHosts spells the host of one site in different ways.
func TestTargetsHosts(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, nil)
	s := harness.Serve(t, `http://a.test:$PORT, http://:$PORT {
		robots_guard enforce
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address())
	s.Warm("/")
	before := o.Requests("/robots.txt")
	for _, host := range []string{"a.test:$PORT", "A.Test:$PORT", "a.test.:$PORT", "A.TEST.:$PORT"} {
		host = strings.ReplaceAll(host, "$PORT", s.Port)
		status, body := harness.Raw(t, s, "GET /private/x HTTP/1.1\r\nHost: "+host+"\r\nUser-Agent: "+harness.Bingbot+"\r\nConnection: close\r\n\r\n")
		if status != 403 || !strings.Contains(body, "http://a.test:"+s.Port+"/robots.txt") {
			t.Errorf("Host %s: got %d %q", host, status, body)
		}
	}
	if n := o.Requests("/robots.txt") - before; n != 0 {
		t.Errorf("robots.txt was fetched %d more times for other spellings of the host", n)
	}
	// Different hosts.
	for _, request := range []string{
		"GET /private/x HTTP/1.1\r\nHost: a.test\r\nUser-Agent: $UA\r\nConnection: close\r\n\r\n",
		"GET /private/x HTTP/1.1\r\nHost: [::1]:" + s.Port + "\r\nUser-Agent: $UA\r\nConnection: close\r\n\r\n",
	} {
		request = strings.ReplaceAll(request, "$UA", harness.Bingbot)
		var status int
		harness.Eventually(t, fmt.Sprintf("403 for %q", request), func() bool {
			status, _ = harness.Raw(t, s, request)
			return status == 403
		})
	}
}

// TestTargetsWithoutHost sends HTTP/1.0 requests, which need no host.
func TestTargetsWithoutHost(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, nil)
	s := harness.Serve(t, `http://:$PORT {
		robots_guard enforce
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address())
	request := "GET /private/x HTTP/1.0\r\nUser-Agent: " + harness.Bingbot + "\r\n\r\n"
	harness.Raw(t, s, request)
	harness.Eventually(t, "the robots.txt was read", func() bool { return s.Metrics().Sum(harness.FetchesMetric) > 0 })
	if status, body := harness.Raw(t, s, request); status != 403 {
		t.Errorf("got %d %q", status, body)
	}
	if status, _ := harness.Raw(t, s, "GET /page HTTP/1.0\r\nUser-Agent: "+harness.Bingbot+"\r\n\r\n"); status != 200 {
		t.Errorf("an allowed page: got %d", status)
	}
}

// TestTargetsOfOtherKinds sends requests without a path, and requests that violate the
// protocol.
func TestTargetsOfOtherKinds(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, `http://a.test:$PORT, http://:$PORT {
		robots_guard enforce
		handle /robots.txt {
			respond "User-agent: *
Disallow: /"
		}
		handle {
			respond "page"
		}
	}`)
	s.Warm("/", "http://x.test/")
	for request, want := range map[string]int{
		"OPTIONS * HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nConnection: close\r\n\r\n":                                                   200,
		"OPTIONS / HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nConnection: close\r\n\r\n":                                                   403,
		"CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nConnection: close\r\n\r\n":                                           200,
		"GET / HTTP/1.1\r\nHost: a.test:$PORT\r\nuser-agent: $UA\r\nConnection: close\r\n\r\n":                                                       403,
		"GET / HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent:   $UA  \r\nConnection: close\r\n\r\n":                                                   403,
		"GET / HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: " + strings.Repeat("x", 5000) + "\r\nConnection: close\r\n\r\n":                         200,
		"POST / HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody":                             403,
		"GET / HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n":                        403,
		"GET / HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nCookie: a=b\r\nRange: bytes=0-1\r\nConnection: close\r\n\r\n":                    403,
		"GET / HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nX-Original-URL: /robots.txt\r\nConnection: close\r\n\r\n":                        403,
		"GET /robots.txt HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nConnection: close\r\n\r\n":                                             200,
		"GET /robots.txt? HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nConnection: close\r\n\r\n":                                            200,
		"GET http://a.test/robots.txt HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nConnection: close\r\n\r\n":                                200,
		"GET /robots.tx%74 HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nConnection: close\r\n\r\n":                                           200,
		"GET /x/../robots.txt/../secret HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nConnection: close\r\n\r\n":                              403,
		"GET /robots.txt/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nConnection: close\r\n\r\n":                                           403,
		"GET /.well-known/acme-challenge/x/../../../secret HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nConnection: close\r\n\r\n":           403,
		"GET /.well-known/acme-challenge/..%2f..%2fsecret HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nConnection: close\r\n\r\n":            403,
		"POST /.well-known/acme-challenge/token HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nContent-Length: 0\r\nConnection: close\r\n\r\n": 200, // the * group does not apply there
	} {
		request = strings.NewReplacer("$PORT", s.Port, "$UA", harness.Bingbot).Replace(request)
		if status, body := harness.Raw(t, s, request); status != want {
			t.Errorf("%.150q: got %d %.200q, want %d", request, status, body, want)
		}
	}
}

// TestTargetsPipelined sends several requests over one connection. A blocked request
// must leave the connection usable, even with an unread body.
func TestTargetsPipelined(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, harness.RuledSite, "$MODE", "enforce")
	s.Warm("/")
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.Port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	in := bufio.NewReader(conn)
	for i, want := range []int{403, 200, 403, 200} {
		target := map[int]string{403: "/private/x", 200: "/open"}[want]
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a.test:%s\r\nUser-Agent: %s\r\nContent-Length: 1000\r\n\r\n%s", target, s.Port, harness.Bingbot, strings.Repeat("x", 1000))
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		if response.StatusCode != want {
			t.Errorf("request %d: got %d, want %d", i, response.StatusCode, want)
		}
	}
}
