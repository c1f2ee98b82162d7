package admin

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestStatus requests all sites, one site by each of its names, and sites that do not exist.
func TestStatus(t *testing.T) {
	k := learn(policy.Key{IsHTTPS: true, Host: "enforced.test", Site: "enforced.test"})
	for _, tc := range []struct {
		name, method, query string
		status              int
		want                string // site, mode and authority
	}{
		{"all sites", http.MethodGet, "", 200, "enforced.test enforce https://enforced.test"},
		{"by host", http.MethodGet, "?site=enforced.test", 200, "enforced.test enforce https://enforced.test"},
		{"by address", http.MethodGet, "?site=https://enforced.test", 200, "enforced.test enforce https://enforced.test"},
		{"another scheme", http.MethodGet, "?site=http://enforced.test", 404, `this server has no robots_guard for "http://enforced.test"`},
		{"another site", http.MethodGet, "?site=other.test", 404, `this server has no robots_guard for "other.test"`},
		{"an unknown parameter", http.MethodGet, "?sites=enforced.test", 400, "did you mean site?"},
		{"another method", http.MethodPost, "", 405, "use GET for"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, body := k.ask(t, tc.method, StatusPath+tc.query, "")
			if status != tc.status {
				t.Fatalf("status %d, want %d: %s", status, tc.status, body)
			}
			got := body
			if status == http.StatusOK {
				var s Status
				if err := json.Unmarshal([]byte(body), &s); err != nil || len(s.Sites) != 1 {
					t.Fatalf("%v: %s", err, body)
				}
				got = strings.Join([]string{s.Sites[0].Site, s.Sites[0].Mode, s.Sites[0].Robots.Authority}, " ")
			}
			if !strings.Contains(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestStatusOfSiteAlerts requests one site of a server with an alert about the server.
func TestStatusOfSiteAlerts(t *testing.T) {
	k := learn(policy.Key{IsHTTPS: true, Host: "enforced.test", Site: "enforced.test"})
	k.alerts = alert.NewManager(fullDisk{}, time.Now)
	if _, body := k.ask(t, http.MethodGet, StatusPath+"?site=enforced.test", ""); !strings.Contains(body, `"state": "open"`) {
		t.Errorf("without the alert about the server: %s", body)
	}
}
