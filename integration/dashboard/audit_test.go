package dashboard

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// auditPage is the page of an audit, with names and paths of any length.
func auditPage(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var log strings.Builder
	for i, request := range []string{
		gptBot + "\n/robots.txt", gptBot + "\n/articles/a-title-that-goes-on-and-on-and-says-nothing-at-all/" + strings.Repeat("word-", 20), bytedance + "\n/private/",
		googlebot + "\n/private/press", seoBot + "\n/shop/cart?session=0123456789abcdef0123456789abcdef",
		"AVeryLongNameOfACrawlerThatNobodyKnowsBot/1.0 (+https://example.com/bot)\n/private/x",
	} {
		agent, path, _ := strings.Cut(request, "\n")
		for n := range 7 * (i + 1) {
			fmt.Fprintf(&log, "203.0.113.%d - - [2%d/Nov/2026:09:%02d:01 +0000] \"GET %s HTTP/1.1\" 200 900 \"-\" %q\n", i, n%3, n, path, agent)
		}
	}
	log.WriteString("no line of a log " + strings.Repeat("x", 300) + "\n")
	for name, text := range map[string]string{"access.log": log.String(),
		"robots.txt": "User-agent: *\nDisallow: /private/\nDisallow: /shop/cart?session=\n\nUser-agent: GPTBot\nUser-agent: AVeryLongNameOfACrawlerThatNobodyKnowsBot\nDisallow: /articles/a-title-that-goes-on-and-on-and-says-nothing-at-all/\nDisallow: /private/\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page, problem, code := harness.Command(t, "", "robots-guard", "audit", "--html", "--robots", filepath.Join(dir, "robots.txt"), filepath.Join(dir, "access.log"))
	if code != 0 {
		t.Fatalf("audit ends with %d: %s", code, problem)
	}
	return page
}

// The page of an audit fits a phone, where a row is two lines, and breaks no name.
func TestAuditFits(t *testing.T) {
	page := auditPage(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/" {
			_, _ = w.Write([]byte(page))
		}
	}))
	t.Cleanup(s.Close)
	for _, l := range looks {
		p := browse(t, s.URL, l)
		p.forgive("favicon")
		if dir := os.Getenv("SHOTS"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("audit-%d-%v.png", l.width, l.dark)), p.picture(0), 0o600); err != nil {
				t.Error(err)
			}
		}
		if over := p.eval(`document.documentElement.scrollWidth - document.documentElement.clientWidth`); over != "0" {
			t.Errorf("at %d px it is %s px too wide", l.width, over)
		}
		if inner := p.eval(`JSON.stringify([...document.querySelectorAll(".scroll")].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.innerText.slice(0, 40)))`); l.width < 600 && inner != "[]" {
			t.Errorf("at %d px some tables have to be scrolled: %s", l.width, inner)
		}
		if broken := p.eval(`JSON.stringify([...document.querySelectorAll("td.name code")].filter((e) => e.getBoundingClientRect().height > 26).map((e) => e.innerText))`); broken != "[]" {
			t.Errorf("at %d px names are broken: %s", l.width, broken)
		}
		if text := p.text("table:first-of-type"); !strings.Contains(text, "Bytespider") {
			t.Errorf("at %d px: %s", l.width, text)
		}
		if tall := p.eval(`JSON.stringify([...document.querySelectorAll("h2 + p + .scroll tbody tr:has(.name)")].filter((e) => e.getBoundingClientRect().height > 70).map((e) => e.innerText))`); tall != "[]" {
			t.Errorf("at %d px a crawler takes more than two lines: %s", l.width, tall)
		}
	}
}
