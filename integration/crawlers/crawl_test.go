package crawlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// origins are the handlers behind the guard.
var origins = []string{"file_server", "reverse_proxy"}

// request is a request of a crawler.
type request struct {
	run
	variant variant
	origin  string
	entry
	allowed bool // by Google's library
}

// crawlAll runs the server and every crawler, and returns all requests of the crawlers.
func crawlAll(t *testing.T) []request {
	t.Helper()
	dir, port := t.TempDir(), harness.FreePort(t)
	runs := allRuns()
	type site struct {
		run     run
		variant variant
		origin  string
	}
	sites := make(map[string]site) // by host
	origin := newOrigin(t, func(host string) *string {
		host, _, _ = strings.Cut(host, ":")
		return sites[host].variant.robots()
	})
	var caddyfile strings.Builder
	for v, variant := range variants {
		folder := filepath.Join(dir, "sites", fmt.Sprint(v))
		writeSite(t, folder, variant.robots())
		for o, name := range origins {
			var addresses []string
			for _, r := range runs {
				if !r.crawls(v, o) {
					continue
				}
				host := host(r, v, o)
				sites[host] = site{r, variant, name}
				addresses = append(addresses, "http://"+host+":"+port)
			}
			fmt.Fprintf(&caddyfile, "%s {\n\tlog {\n\t\toutput file %s\n\t\tformat json\n\t}\n", strings.Join(addresses, ", "), accessLog(dir))
			caddyfile.WriteString("\trobots_guard enforce {\n\t\tfetch_timeout 60s\n\t\tfetch_wait 60s\n\t}\n")
			for from, to := range redirects {
				fmt.Fprintf(&caddyfile, "\tredir %s %s\n", from, to)
			}
			if name == "file_server" {
				fmt.Fprintf(&caddyfile, "\troot %s\n\tfile_server\n}\n", folder)
			} else {
				fmt.Fprintf(&caddyfile, "\treverse_proxy %s\n}\n", origin)
			}
		}
	}
	s := serve(t, dir, caddyfile.String(), port)
	for host := range sites { // the guard decides about an HTTP library only after it has fetched robots.txt
		warm(t, host+":"+port)
	}

	t.Run("crawl", func(t *testing.T) {
		for _, r := range runs {
			t.Run(r.String(), func(t *testing.T) {
				t.Parallel()
				var starts []string
				for v := range variants {
					for o := range origins {
						if !r.crawls(v, o) {
							continue
						}
						starts = append(starts, fmt.Sprintf("http://%s:%s/", host(r, v, o), port))
					}
				}
				began := time.Now()
				r.crawl(t, starts, r.obey, r.userAgent)
				t.Logf("%.1f s", time.Since(began).Seconds())
			})
		}
	})
	s.stop()

	var requests []request
	for _, e := range s.entries() {
		host, _, _ := strings.Cut(e.Request.Host, ":")
		site, known := sites[host]
		if !known {
			t.Errorf("a request for an unknown host: %+v", e)
			continue
		}
		if e.client() == warmer {
			continue
		}
		r := request{run: site.run, variant: site.variant, origin: site.origin, entry: e}
		r.allowed = googleAllows(site.variant.robots(), r.as(), e.Request.URI)
		requests = append(requests, r)
	}
	return requests
}

// warmer is a crawler to which the * group applies, so the guard fetches robots.txt for
// it.
const warmer = "warmerbot/1.0"

func warm(t *testing.T, host string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, "http://"+host+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("User-Agent", warmer)
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
}

// TestCrawlers compares the guard with real crawlers, as the package comment describes.
func TestCrawlers(t *testing.T) {
	requests := crawlAll(t)
	if *dump != "" {
		writeDump(t, *dump, requests)
	}
	if t.Failed() { // a crawler is missing or did not exit
		return
	}
	for _, complaint := range lacking(requests) {
		t.Error(complaint)
	}
	judge(t, requests)
}

// judge compares the responses with the verdicts of Google's library, and checks that
// crawlers that obey are not blocked.
func judge(t *testing.T, requests []request) {
	var refused, served, stricter []request
	for _, r := range requests {
		if r.obey && r.blocked() {
			refused = append(refused, r)
		}
		switch {
		case !r.allowed && !r.blocked():
			served = append(served, r)
		case r.allowed && r.blocked():
			stricter = append(stricter, r)
		}
	}
	t.Logf("%d requests; %d of obeying crawlers blocked; %d served that Google's library forbids; %d blocked that it allows",
		len(requests), len(refused), len(served), len(stricter))
	explain(t, "a crawler whose parser is right is never blocked", refused, blockedThoughObeying)
	explain(t, "served, but Google's library forbids it", served, servedThoughForbidden)
	explain(t, "blocked, but Google's library allows it", stricter, blockedThoughAllowed)
}

// writeDump writes the requests as lines of JSON.
func writeDump(t *testing.T, name string, requests []request) {
	t.Helper()
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := json.NewEncoder(file)
	for _, r := range requests {
		if err := lines.Encode(map[string]any{"crawler": r.name, "as": r.as(), "obey": r.obey, "variant": r.variant.name,
			"origin": r.origin, "uri": r.Request.URI, "host": r.Request.Host, "method": r.Request.Method, "ua": r.client(),
			"status": r.Status, "allowed": r.allowed, "verdict": r.Verdict}); err != nil {
			t.Fatal(err)
		}
	}
}
