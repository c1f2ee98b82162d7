package rate

import (
	"net/http"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestCounts(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nSitemap: https://shop.example/all\n"))
	for _, tc := range []struct {
		method, path string
		pages, all   bool
	}{
		{http.MethodGet, "/", true, true},
		{http.MethodHead, "/a/b.html", true, true},
		{http.MethodPost, "/search", true, true},
		{http.MethodGet, "/report.pdf", true, true},
		{http.MethodGet, "/main.css", false, true},
		{http.MethodGet, "/photo.JPG", false, true},
		{http.MethodGet, "/font.woff2", false, true},
		{http.MethodGet, "/js", true, true},
		{http.MethodGet, "/robots.txt", false, false},
		{http.MethodGet, "/all", false, false},
		{http.MethodGet, "/sitemap.xml", false, false},
		{http.MethodGet, "/.well-known/security.txt", false, false},
		{http.MethodOptions, "/", false, false},
	} {
		for all, want := range map[bool]bool{false: tc.pages, true: tc.all} {
			if got := (&Settings{All: all}).Counts(tc.method, tc.path, robots); got != want {
				t.Errorf("%s %s, all %v: %v, want %v", tc.method, tc.path, all, got, want)
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { new(Settings).Counts(http.MethodGet, "/a/b.html", robots) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestSettingsRules(t *testing.T) {
	s := Settings{MaxDelay: 30 * time.Second, Burst: 10, Over: 1.5, Window: 5 * time.Minute}
	for delay, want := range map[time.Duration]time.Duration{0: 0, 10 * time.Second: 10 * time.Second, time.Hour: 30 * time.Second} {
		if got := s.Rules(delay); got.File.Interval != want || got.File.Burst != 10 || got.Over != 1.5 || got.Window != 5*time.Minute || got.Owner != (Rule{}) {
			t.Errorf("%v: %+v", delay, got)
		}
	}
}
