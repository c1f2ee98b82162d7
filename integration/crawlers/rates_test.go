package crawlers

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// slowPages is the number of pages of a site with a limit of two pages per second.
const slowPages = 40

// patientUserAgent is a User-Agent with a limit.
const patientUserAgent = "CCBot/2.0 (https://commoncrawl.org/faq/)"

// TestPatientCrawlers runs crawlers that slow down after 429 on sites with a limit of
// two pages per second. Each crawler gets all pages at that rate. A crawler that waits
// on its own never gets 429.
func TestPatientCrawlers(t *testing.T) {
	for _, c := range []struct {
		name  string
		told  bool // it gets 429
		crawl func(t *testing.T, url string)
	}{
		{"Scrapy with AutoThrottle", true, func(t *testing.T, url string) {
			command(t, nil, "scrapy", "python3-scrapy", func(string) []string {
				return []string{"runspider", "patient.py", "-a", "start=" + url, "-s", "ROBOTSTXT_OBEY=True", "-s", "USER_AGENT=" + patientUserAgent}
			})
		}},
		{"wget --wait", false, func(t *testing.T, url string) {
			command(t, nil, "wget", "wget", func(string) []string {
				return []string{"--no-config", "--recursive", "--level=1", "--no-directories", "--delete-after", "--quiet", "--wait=0.5", "--user-agent=" + patientUserAgent, url}
			})
		}},
		{"a client that obeys Retry-After", true, patientClient},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, port := t.TempDir(), harness.FreePort(t)
			writeSlowSite(t, filepath.Join(dir, "site"))
			s := serve(t, dir, fmt.Sprintf("http://127.0.0.1:%s {\n\tlog {\n\t\toutput file %s\n\t\tformat json\n\t}\n"+
				"\trobots_guard enforce {\n\t\trate enforce {\n\t\t\tlimit CCBot 2/1s burst 2\n\t\t}\n\t}\n\troot %s\n\tfile_server\n}\n", port, accessLog(dir), filepath.Join(dir, "site")), port)
			c.crawl(t, "http://127.0.0.1:"+port+"/")
			s.stop()
			pages, told, first, last := make(map[string]bool), 0, 0.0, 0.0
			for _, e := range s.entries() {
				switch {
				case e.Request.URI == "/robots.txt":
					if e.Status == http.StatusTooManyRequests {
						t.Error("robots.txt gets 429")
					}
				case e.Status == http.StatusTooManyRequests:
					told++
				case e.Status == http.StatusOK:
					if pages[e.Request.URI] = true; len(pages) == 1 {
						first = e.At
					}
					last = e.At
				default:
					t.Errorf("%s gets %d", e.Request.URI, e.Status)
				}
			}
			rate := float64(len(pages)-1) / (last - first)
			t.Logf("%d pages, %.2f a second, %d times 429", len(pages), rate, told)
			if len(pages) != slowPages+1 || rate < 1.2 || rate > 2.4 || (told > 0) != c.told {
				t.Errorf("%d pages of %d, %.2f per second with a limit of 2, %d times 429", len(pages), slowPages+1, rate, told)
			}
		})
	}
}

// writeSlowSite writes a first page with links to all other pages.
func writeSlowSite(t *testing.T, folder string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	var first strings.Builder
	files := map[string]string{"robots.txt": "User-agent: *\nDisallow: /private/\n"}
	for n := range slowPages {
		fmt.Fprintf(&first, "<p><a href=\"/%d.html\">%d</a>\n", n, n)
		files[fmt.Sprintf("%d.html", n)] = "<p>A page.\n"
	}
	files["index.html"] = first.String()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// patientClient fetches all pages one after the other, and waits for Retry-After.
func patientClient(t *testing.T, url string) {
	get := func(url string) (status int, wait time.Duration) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("User-Agent", patientUserAgent)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return resp.StatusCode, time.Duration(seconds) * time.Second
	}
	for n := -1; n < slowPages; n++ {
		page := url
		if n >= 0 {
			page += fmt.Sprintf("%d.html", n)
		}
		for status := 0; status != http.StatusOK; {
			var wait time.Duration
			if status, wait = get(page); status == http.StatusTooManyRequests && wait <= 0 {
				t.Fatal("429 without a Retry-After")
			}
			time.Sleep(wait)
		}
	}
}
