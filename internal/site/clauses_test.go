package site

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestClauses covers clauses of RFC 9309 and of Google's documentation about single responses.
func TestClauses(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /\n"
	site := "http://" + originServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/picture":
			w.Header().Set("Content-Type", "image/png")
			fmt.Fprint(w, rules)
		case "/refresh":
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Refresh", "0; url=/picture")
			fmt.Fprint(w, `<meta http-equiv="refresh" content="0; url=/picture"><script>location = "/picture"</script>`)
		case "/to-503":
			http.Redirect(w, r, "/503", http.StatusFound)
		case "/to-404":
			http.Redirect(w, r, "/404", http.StatusFound)
		case "/503":
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			http.NotFound(w, r)
		}
	})
	for _, tc := range []struct {
		name, url string
		meaning   policy.AccessResult
		rules     int
	}{
		{"any media type", site + "/picture", policy.Successful, 1},
		{"redirects by HTML and script are not followed", site + "/refresh", policy.Successful, 0},
		{"a redirect to a failure is a failure", site + "/to-503", policy.Unreachable, 0},
		{"a redirect to a missing file is a missing file", site + "/to-404", policy.Unavailable, 0},
		{"a name that does not resolve", "http://robots.invalid/robots.txt", policy.Unreachable, 0},
		{"a port where nobody listens", "http://127.0.0.1:" + freePort(t) + "/robots.txt", policy.Unreachable, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			answer := readSource(t.Context(), t, NewURLSource(tc.url, "", true))
			if answer.AccessResult() != tc.meaning {
				t.Fatalf("%s (status %d, %v), want %s", answer.AccessResult(), answer.Status, answer.Err, tc.meaning)
			}
			state := policy.State{}.AfterFetch(answer, time.Now(), policy.FreshnessPolicy{}, 0)
			if state.Current != nil && state.Current.Robots.RuleCount() != tc.rules {
				t.Errorf("%d rules, want %d", state.Current.Robots.RuleCount(), tc.rules)
			}
			if answer.Status == http.StatusServiceUnavailable && time.Until(state.NextFetch) < time.Minute {
				t.Error("its Retry-After is forgotten")
			}
		})
	}
}
