package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// listed is the address in the address list of the crawler Verix.
const listed = "192.0.2.1"

const verix = "Verix/1.0 (+https://verix.test/bot)"

var (
	browsers = []string{harness.Firefox, harness.Chrome}
	// bots are crawlers and tools. An empty string stands for a random name.
	bots = []string{
		harness.Curl, harness.Feedly, harness.Bingbot, harness.Googlebot, harness.GPTBot, harness.FooBot, verix, "",
		"Quuxle/1.0", "CCBot/2.0 (https://commoncrawl.org/faq/)", "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)",
	}
	sites = []string{"https://files.test", "https://strict.test", "https://managed.test", "https://decide.test", "http://monitored.test", "http://%s.invented.test"}
	paths = []string{"/page", "/private/x", "/new/x", "/page?%s", "/private/%s", "/robots.txt"}
)

// traffic sends requests and counts the responses.
type traffic struct {
	server *server
	kept   map[int]transport // by major version of HTTP

	mu                 sync.Mutex
	sent, unanswered   int
	statuses, versions map[int]int
	wrong              []string // blocked requests of browsers or for robots.txt
}

// transport is a transport whose connections can be closed.
type transport interface {
	http.RoundTripper
	CloseIdleConnections()
}

func newTraffic(s *server) *traffic {
	t := &traffic{server: s, kept: make(map[int]transport), statuses: make(map[int]int), versions: make(map[int]int)}
	for version := 1; version <= 3; version++ {
		t.kept[version] = s.transport(version)
	}
	return t
}

// transport returns a transport for one version of HTTP that connects to the server for
// every host.
func (s *server) transport(version int) transport {
	config := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the server has a CA of its own
	if version == 3 {
		return &http3.Transport{TLSClientConfig: config, Dial: func(ctx context.Context, _ string, config *tls.Config, settings *quic.Config) (*quic.Conn, error) {
			return quic.DialAddrEarly(ctx, "127.0.0.1:"+s.tls, config, settings)
		}}
	}
	t := &http.Transport{TLSClientConfig: config, Protocols: new(http.Protocols), MaxIdleConnsPerHost: 64}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		port := s.clear
		if strings.HasSuffix(address, ":443") {
			port = s.tls
		}
		return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
	}
	t.Protocols.SetHTTP1(version == 1)
	t.Protocols.SetHTTP2(version == 2)
	return t
}

// hangUp closes the connections.
func (t *traffic) hangUp() {
	for _, by := range t.kept {
		by.CloseIdleConnections()
	}
}

// run sends rate requests per second for length, or until ctx ends.
func (t *traffic) run(ctx context.Context, length time.Duration, rate float64) {
	const workers = 32 // some of them wait for an origin that hangs
	ctx, end := context.WithTimeout(ctx, length)
	defer end()
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for rest(ctx, time.Duration(random.ExpFloat64()*workers/rate*float64(time.Second))) {
				t.ask(random)
			}
		})
	}
	group.Wait()
}

// ask sends a random request.
func (t *traffic) ask(random *rand.Rand) {
	pick := func(all []string) string {
		one := all[random.IntN(len(all))]
		if strings.Contains(one, "%s") {
			one = fmt.Sprintf(one, fmt.Sprintf("%x", random.Uint64()))
		}
		return one
	}
	site, path, userAgent, browser := pick(sites), pick(paths), pick(bots), random.IntN(3) == 0
	switch {
	case browser:
		userAgent = pick(browsers)
	case userAgent == "":
		userAgent = fmt.Sprintf("Bot%x/1.0 (+https://bot.test/)", random.Uint64())
	}
	r, err := http.NewRequest(http.MethodGet, site+path, nil)
	if err != nil {
		panic(err) // the URLs are constant
	}
	r.Header.Set("User-Agent", userAgent)
	address := fmt.Sprintf("203.%d.%d.%d", random.IntN(256), random.IntN(256), random.IntN(256))
	if userAgent == verix && random.IntN(2) == 0 {
		address = listed
	}
	r.Header.Set("X-Forwarded-For", address)
	if strings.Contains(site, "decide") {
		r.Header.Set("X-Forwarded-Method", http.MethodGet)
		r.Header.Set("X-Forwarded-Proto", "https")
		r.Header.Set("X-Forwarded-Host", "asked.test")
		r.Header.Set("X-Forwarded-Uri", path)
	}
	version := 1
	if strings.HasPrefix(site, "https:") {
		version += random.IntN(3)
	}
	status, err := t.send(r, version, random.IntN(4) == 0)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent++
	if err != nil {
		t.unanswered++
		return
	}
	t.statuses[status]++
	t.versions[version]++
	blocked := status == http.StatusForbidden || status == http.StatusGone || status == http.StatusTooManyRequests
	if blocked && (browser || path == "/robots.txt") && len(t.wrong) < 20 {
		t.wrong = append(t.wrong, fmt.Sprintf("%s answers %d to %q", r.URL, status, userAgent))
	}
}

// send sends a request, over a new connection if alone is true.
func (t *traffic) send(r *http.Request, version int, alone bool) (status int, err error) {
	by := t.kept[version]
	if alone {
		by = t.server.transport(version)
		defer by.CloseIdleConnections()
	}
	client := http.Client{Transport: by, Timeout: time.Minute}
	response, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}
