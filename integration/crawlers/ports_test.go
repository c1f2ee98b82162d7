package crawlers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestPorts makes crawlers crawl ten sites at ten ports of one address. Each site
// disallows a different folder for that crawler. Wget2 sends a Host field without the
// port, so only the listener distinguishes the sites.
func TestPorts(t *testing.T) {
	for _, name := range []string{"wget2", "Scrapy", "colly"} {
		c := crawlers[slices.IndexFunc(crawlers, func(c crawler) bool { return c.name == name })]
		for _, origin := range origins {
			for _, obey := range []bool{true, false} {
				t.Run(name+" "+origin+" "+mode(obey), func(t *testing.T) {
					t.Parallel()
					crawlPorts(t, c, origin, obey)
				})
			}
		}
	}
}

func crawlPorts(t *testing.T, c crawler, origin string, obey bool) {
	const sites = 10
	dir := t.TempDir()
	var caddyfile strings.Builder
	var ports, starts, files []string
	for n := range sites {
		port, folder := harness.FreePort(t), filepath.Join(dir, fmt.Sprint(n))
		file := fmt.Sprintf("User-agent: %s\nDisallow: /%d/\n", c.token, n)
		ports, files = append(ports, port), append(files, file)
		starts = append(starts, "http://127.0.0.1:"+port+"/")
		write := func(name, text string) {
			name = filepath.Join(folder, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write("robots.txt", file)
		first := page
		for m := range sites {
			write(fmt.Sprintf("%d/page.html", m), page)
			first += fmt.Sprintf("<p><a href=\"/%d/page.html\">%d</a>\n", m, m)
		}
		write("index.html", first)
		serves := "root " + folder + "\n\tfile_server"
		if origin == "reverse_proxy" {
			behind := httptest.NewServer(http.FileServer(http.Dir(folder)))
			t.Cleanup(behind.Close)
			serves = "reverse_proxy " + behind.Listener.Addr().String()
		}
		fmt.Fprintf(&caddyfile, "http://127.0.0.1:%s {\n\tlog {\n\t\toutput file %s\n\t\tformat json\n\t}\n\tlog_append port %s\n"+
			"\trobots_guard enforce {\n\t\tfetch_timeout 60s\n\t\tfetch_wait 60s\n\t}\n\t%s\n}\n", port, accessLog(dir), port, serves)
	}
	s := serve(t, dir, caddyfile.String(), ports[0])
	for _, port := range ports { // the guard decides about an HTTP library only after it has fetched robots.txt
		warm(t, "127.0.0.1:"+port)
	}
	c.crawl(t, starts, obey, "")
	s.stop()

	pages, blocked := make(map[string]int), 0
	for _, e := range s.entries() {
		for n, port := range ports {
			if e.Port != port || e.client() == warmer || e.Request.URI == "/robots.txt" {
				continue
			}
			pages[port]++
			allowed := googleAllows(&files[n], c.token, e.Request.URI)
			switch {
			case obey && e.blocked():
				t.Errorf("a crawler that obeys is blocked at %s of site %d: %+v", e.Request.URI, n, e.Verdict)
			case allowed == e.blocked():
				t.Errorf("%s of site %d: status %d, allowed %t: %+v", e.Request.URI, n, e.Status, allowed, e.Verdict)
			case e.blocked():
				blocked++
			}
		}
	}
	want := sites + 1 // with the first page
	if obey {
		want--
	}
	for n, port := range ports {
		if pages[port] != want {
			t.Errorf("site %d: %d pages were requested, want %d", n, pages[port], want)
		}
	}
	if !obey && blocked != sites {
		t.Errorf("%d blocked, want one at each of the %d sites", blocked, sites)
	}
}
