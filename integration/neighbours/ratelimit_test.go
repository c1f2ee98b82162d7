package neighbours

import (
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// beside are servers that get the same requests of crawlers. One enforces a Crawl-delay
// per crawler, one limits each address to a number of requests per minute, and one has
// no limits.
type beside struct {
	servers map[string]*harness.Server
	client  *http.Client
}

const besideRobots = "\trespond /robots.txt \"User-agent: *\nCrawl-delay: 5\n\"\n\trespond \"a page\"\n}"

// needsRateLimit skips a test if the server has only the substitute of the module.
func needsRateLimit(t *testing.T) {
	t.Helper()
	if modules, _, _ := harness.Command(t, "", "list-modules", "--packages"); !strings.Contains(modules, "http.handlers.rate_limit github.com/mholt/caddy-ratelimit") {
		t.Skip("needs -caddy with a server that has github.com/mholt/caddy-ratelimit")
	}
}

// newBeside starts the servers.
func newBeside(t *testing.T, crawlers []string) *beside {
	t.Helper()
	needsRateLimit(t)
	list := harness.Files(t, map[string]string{"list": "198.18.0.0/15\n"}) + "/list"
	global := "servers {\n\t\ttrusted_proxies static 127.0.0.1/32\n\t}\n\trobots_guard {\n\t\tverify {\n\t\t\tranges configured\n\t\t}\n"
	for _, name := range crawlers {
		global += "\t\tcrawler " + name + " {\n\t\t\tclass crawler\n\t\t\tranges file " + list + "\n\t\t}\n"
	}
	global += "\t}"
	const each = "zone each {\n\t\t\tkey {client_ip}\n\t\t\tevents 12\n\t\t\twindow 1m\n\t\t}"
	b := &beside{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	b.servers = make(map[string]*harness.Server)
	for name, handlers := range map[string]string{
		"by who it is":                          "robots_guard {\n\t\trate enforce\n\t}",
		"by address":                            "rate_limit {\n\t\t" + each + "\n\t}",
		"by address, without a metric for each": "rate_limit {\n\t\t" + each + "\n\t\tdisable_metrics\n\t}",
		"neither":                               "",
	} {
		s := harness.Serve(t, "http://127.0.0.1:$PORT {\n\t"+handlers+"\n"+besideRobots, "$GLOBAL", global)
		b.servers[name] = s
		_, _ = b.ask(t, name, crawlers[0], "198.19.255.1") // makes the server fetch robots.txt
	}
	return b
}

// ask sends a request of a crawler from an address to a server.
func (b *beside) ask(t *testing.T, server, crawler, from string) (status int, err error) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+b.servers[server].Port+"/page", nil)
	if err != nil {
		return 0, err
	}
	r.Header.Set("User-Agent", "Mozilla/5.0 (compatible; "+crawler+"/1.0; +https://example.com/bot)")
	r.Header.Set("X-Forwarded-For", from)
	response, err := b.client.Do(r)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode, err
}

// addressOf returns one of many addresses.
func addressOf(n int) string {
	return net.IPv4(198, byte(18+n>>16), byte(n>>8), byte(n)).String()
}

// TestBesideRateLimit compares two limits for the same crawlers over five minutes: a
// Crawl-delay of 5 per crawler, and twelve requests per minute and address by the
// module caddy-ratelimit. Build a server with both modules and pass it to the test:
//
//	xcaddy build --with github.com/mholt/caddy-ratelimit --with github.com/robotsguard/caddy-robots-guard=.
//	go test -v -run TestBesideRateLimit ./integration/neighbours -caddy $PWD/caddy
func TestBesideRateLimit(t *testing.T) {
	type crawler struct {
		name      string
		every     time.Duration
		first     int // number of its first address
		addresses int
		windows   bool // sends one request at any time in each window, as Bing does
	}
	const delay, long = 5 * time.Second, 5 * time.Minute
	groups := []struct {
		name                  string
		crawlers              []crawler
		refused, passed       int  // with the Crawl-delay, at most
		refusedThere, allPass bool // with the module: some are rejected, all pass
	}{
		{"one that keeps to it, from 1,000 addresses", []crawler{{"SteadyBot", delay, 0, 1000, false}}, 0, 60, false, true},
		{"one that asks a hundred times as fast, from 1,000 addresses", []crawler{{"GreedyBot", delay / 100, 1000, 1000, false}}, 6000, 160, false, true},
		{"six that keep to it, behind one address", []crawler{
			{"SixaBot", delay, 2000, 1, false}, {"SixbBot", delay, 2000, 1, false}, {"SixcBot", delay, 2000, 1, false},
			{"SixdBot", delay, 2000, 1, false}, {"SixeBot", delay, 2000, 1, false}, {"SixfBot", delay, 2000, 1, false},
		}, 0, 360, true, false},
		{"one that keeps it as windows of five seconds, as Bing", []crawler{{"WindowBot", delay, 2001, 1, true}}, 0, 60, false, false},
	}
	var names []string
	for _, g := range groups {
		for _, c := range g.crawlers {
			names = append(names, c.name)
		}
	}
	b := newBeside(t, names)
	time.Sleep(delay) // the first crawler has requested a page
	var all sync.WaitGroup
	begin := time.Now()
	asked, passed := make([]atomic.Int64, len(groups)), map[string][]atomic.Int64{"by who it is": make([]atomic.Int64, len(groups)), "by address": make([]atomic.Int64, len(groups))}
	for i, g := range groups {
		for k, c := range g.crawlers {
			random := rand.New(rand.NewPCG(uint64(i), uint64(k)))
			all.Go(func() {
				for n := range int(long / c.every) {
					at := time.Duration(n)*c.every + time.Duration(k)*100*time.Millisecond
					if c.windows {
						at = time.Duration(n)*c.every + time.Duration(random.Int64N(int64(c.every)))
					}
					time.Sleep(time.Until(begin.Add(at)))
					asked[i].Add(1)
					for server, of := range passed {
						all.Go(func() {
							switch status, err := b.ask(t, server, c.name, addressOf(c.first+n%c.addresses)); {
							case err != nil:
								t.Error(err)
							case status == http.StatusOK:
								of[i].Add(1)
							case status != http.StatusTooManyRequests:
								t.Errorf("%s, %s: %d", c.name, server, status)
							}
						})
					}
				}
			})
		}
	}
	all.Wait()
	for i, g := range groups {
		n, here, there := int(asked[i].Load()), int(passed["by who it is"][i].Load()), int(passed["by address"][i].Load())
		t.Logf("%s: asked %d, passed %d by who it is, %d by address", g.name, n, here, there)
		if n-here > g.refused || here > g.passed || g.refusedThere && there == n || g.allPass && there < n {
			t.Errorf("%s: of %d requests %d passed per crawler, want %d to %d, and %d passed per address", g.name, n, here, n-g.refused, g.passed, there)
		}
	}
}

// TestRateLimitCost sends requests under one name from 100,000 addresses, and logs the
// costs of the servers: the maximum heap in use after a collection, and the minimum CPU
// time of ten parts. Run it like TestBesideRateLimit.
func TestRateLimitCost(t *testing.T) {
	const addresses, parts, callers = 100_000, 10, 4
	b := newBeside(t, []string{"GreedyBot"})
	for name, s := range b.servers {
		least, most := time.Hour, 0.0
		for part := range parts {
			before := s.Metrics()["process_cpu_seconds_total"]
			var all sync.WaitGroup
			for caller := range callers {
				all.Go(func() {
					for n := caller; n < addresses/parts; n += callers {
						if _, err := b.ask(t, name, "GreedyBot", addressOf(part*addresses/parts+n)); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			after := s.Metrics()
			least = min(least, time.Duration((after["process_cpu_seconds_total"]-before)*float64(time.Second)/(addresses/parts)))
			most = max(most, after["go_memstats_next_gc_bytes"]/2) // with GOGC=100 it is twice the heap in use
		}
		t.Logf("%s: %v of the processor a request, %.1f MiB in use", name, least.Round(100*time.Nanosecond), most/(1<<20))
	}
}

// TestRateLimitRecipe runs the guide's configuration of the module. Each crawler has
// its own limit, and can fetch robots.txt and sitemaps at any time. Run it like
// TestBesideRateLimit.
func TestRateLimitRecipe(t *testing.T) {
	needsRateLimit(t)
	guide, err := os.ReadFile("../../docs/guides/slow.md")
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, ok := strings.Cut(string(guide), "github.com/mholt/caddy-ratelimit\nexample.com {\n")
	recipe, _, end := strings.Cut(recipe, "\n```")
	if !ok || !end || !strings.Contains(recipe, "events 30") {
		t.Fatalf("the guide lacks the configuration: %s", recipe)
	}
	s := harness.Serve(t, "http://a.test:$PORT {\n"+strings.Replace(recipe, "reverse_proxy app:8080", "respond /robots.txt \"User-agent: *\nDisallow: /private/\n\"\nrespond \"a page\"", 1))
	s.Warm("/")
	for _, tc := range []struct {
		userAgent, path string
		passes          int // of 35 requests
	}{
		{harness.GPTBot, "/page", 30}, {"CCBot/2.0", "/page", 30}, {harness.GPTBot, "/robots.txt", 35}, {harness.GPTBot, "/sitemap.xml", 35},
		{harness.GPTBot, "/.well-known/x", 35}, {harness.GPTBot, "/private/x", 0}, {harness.Bingbot, "/page", 35}, {harness.Firefox, "/page", 35},
	} {
		passes := 0
		for range 35 {
			if harness.Get(t, s.URL(tc.path), tc.userAgent).Status == http.StatusOK {
				passes++
			}
		}
		if passes != tc.passes {
			t.Errorf("%s as %s: %d of 35 pass, want %d", tc.path, tc.userAgent, passes, tc.passes)
		}
	}
}
