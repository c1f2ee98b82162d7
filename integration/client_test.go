package integration

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// User-Agents of the usual suspects.
const (
	firefox        = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	chrome         = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
	gptBot         = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)"
	googlebot      = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	googlebotImage = "Googlebot-Image/1.0"
	bingbot        = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
	adsBot         = "AdsBot-Google (+http://www.google.com/adsbot.html)"
	slack          = "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"
	facebook       = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"
	feedly         = "Feedly/1.0 (+http://www.feedly.com/fetcher.html; like FeedFetcher-Google)"
	uptimeRobot    = "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)"
	chatGPTUser    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot"
	headless       = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36"
	fooBot         = "FooBarBot/3.1 (+https://foo.example/bot)" // in no registry
	curl           = "curl/8.7.1"
)

// answer is what a client gets.
type answer struct {
	status int
	header http.Header
	body   string
	proto  string
}

// newClient returns a client that finds every host on the loopback interface
// and trusts everybody.
func newClient(http2 bool) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives:  true,
			DisableCompression: true,
			ForceAttemptHTTP2:  http2,
			TLSClientConfig:    &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // a CA of this test's own
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				_, port, err := net.SplitHostPort(address)
				if err != nil {
					return nil, err
				}
				return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       30 * time.Second,
	}
}

var client, client2 = newClient(false), newClient(true)

// get requests a URL as a client with this User-Agent, none if it is empty. It
// tries again when the connection is reset, which stock Caddy does to some while
// it changes its configuration.
func get(t *testing.T, url, userAgent string, change ...func(*http.Request)) answer {
	t.Helper()
	for tries := 1; ; tries++ {
		a, err := try(client, url, userAgent, change...)
		switch {
		case err == nil:
			return a
		case tries == 5 || !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF):
			t.Fatal(err)
		}
	}
}

func try(client *http.Client, url, userAgent string, change ...func(*http.Request)) (answer, error) {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return answer{}, err
	}
	r.Header["User-Agent"] = []string{userAgent}
	if userAgent == "" {
		r.Header["User-Agent"] = nil
	}
	for _, f := range change {
		f(r)
	}
	response, err := client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(body), response.Proto}, err
}

// method sets the method of a request.
func method(name string) func(*http.Request) { return func(r *http.Request) { r.Method = name } }

// header sets a header field of a request.
func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// hostOf sets the host of a request.
func hostOf(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// visit is a request and what it should be answered with.
type visit struct {
	userAgent string
	path      string // a path on a.test, or a URL without port
	status    int
	body      string // contained in the body
}

// visits makes requests and compares the answers.
func visits(t *testing.T, s *server, all []visit) {
	t.Helper()
	for _, v := range all {
		a := get(t, s.url(v.path), v.userAgent)
		if a.status != v.status || !strings.Contains(a.body, v.body) {
			t.Errorf("%s as %q: got %d %q, want %d %q", v.path, v.userAgent, a.status, a.body, v.status, v.body)
		}
	}
}

// warm makes sure that the robots.txt of these URLs' sites was read.
func (s *server) warm(paths ...string) {
	s.t.Helper()
	for _, path := range paths {
		unknown := func() float64 { return s.metrics().sum(requestsMetric, `verdict="unknown"`) }
		eventually(s.t, "the robots.txt of "+path+" is known", func() bool {
			before := unknown()
			get(s.t, s.url(path), bingbot)
			return unknown() == before
		})
	}
}

// raw sends bytes to the server and returns the status line's code and the
// body of the answer, and whether anything was answered.
func raw(t *testing.T, s *server, request string) (status int, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	defer response.Body.Close()
	all, _ := io.ReadAll(response.Body) // may end early where the server closes
	return response.StatusCode, string(all)
}

// origin is a server behind the proxy.
type origin struct {
	*httptest.Server
	mu    sync.Mutex
	count map[string]int // by request target
	seen  []*http.Request
	first atomic.Bool // for handlers that treat one request apart
	down  atomic.Bool
}

// goDown has the origin answer nobody any more. Its port stays taken, or another
// test's origin could get it.
func (o *origin) goDown() { o.down.Store(true) }

// newOrigin returns an origin that answers with this robots.txt, and with
// "origin" and the path to everything else. special may answer instead, and
// says whether it did.
func newOrigin(t *testing.T, robots string, special func(http.ResponseWriter, *http.Request) bool) *origin {
	t.Helper()
	o := &origin{count: make(map[string]int)}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		if o.down.Load() {
			o.mu.Unlock()
			panic(http.ErrAbortHandler)
		}
		o.count[r.RequestURI]++
		o.seen = append(o.seen, r.Clone(context.Background()))
		o.mu.Unlock()
		switch {
		case special != nil && special(w, r):
		case r.URL.Path == "/robots.txt":
			_, _ = io.WriteString(w, robots)
		default:
			_, _ = io.WriteString(w, "origin "+r.URL.Path)
		}
	}))
	t.Cleanup(func() {
		o.CloseClientConnections()
		o.Close()
	})
	return o
}

// address is host and port.
func (o *origin) address() string { return o.Listener.Addr().String() }

// requests returns how often a target was asked for.
func (o *origin) requests(target string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.count[target]
}

// files makes a directory with these files.
func files(t *testing.T, contents map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range contents {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// samples are the values of a page of metrics, by name and labels as printed.
type samples map[string]float64

// metrics reads the server's metrics.
func (s *server) metrics() samples {
	s.t.Helper()
	port, _ := metricsOf.Load(s)
	return readMetrics(s.t, fmt.Sprintf("http://127.0.0.1:%s/metrics", port))
}

func readMetrics(t *testing.T, url string) samples {
	t.Helper()
	all := make(samples)
	for line := range strings.Lines(get(t, url, firefox).body) {
		line = strings.TrimSuffix(line, "\n")
		i := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || i < 0 {
			continue
		}
		value, err := strconv.ParseFloat(line[i+1:], 64)
		if err != nil {
			t.Fatalf("metrics: %q: %v", line, err)
		}
		all[line[:i]] = value
	}
	return all
}

// of returns the samples whose name begins with a prefix, without the prefix.
func (all samples) of(prefix string) samples {
	some := make(samples)
	for name, value := range all {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			some[rest] = value
		}
	}
	return some
}

// sum adds up the samples that have all these pieces in their name.
func (all samples) sum(prefix string, pieces ...string) (total float64) {
next:
	for name, value := range all.of(prefix) {
		for _, piece := range pieces {
			if !strings.Contains(name, piece) {
				continue next
			}
		}
		total += value
	}
	return total
}

const (
	requestsMetric = "caddy_robots_guard_requests_total"
	fetchesMetric  = "caddy_robots_guard_fetches_total"
)
