package command

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPoliciesOfAServer asks for the policy at the server that is named.
func TestPoliciesOfAServer(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		want string // method and target
		code int
	}{
		{"one site", []string{"shop.test"}, "GET /robots_guard/policies/shop.test", 0},
		{"at a server", []string{"--server", ":8001", "shop.test"}, "GET /robots_guard/policies/shop.test?server=%3A8001", 0},
		{"to be read again", []string{"--server", "127.0.0.1:8001", "--refresh", "https://shop.test"},
			"POST /robots_guard/policies/https:/shop.test/refresh?server=127.0.0.1%3A8001", 0},
		{"of no site", []string{"--server", ":8001"}, "", ExitFailed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			asked := ""
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.Method + " " + r.RequestURI
				_, _ = io.WriteString(w, `{"refresh": {"outcome": "unchanged"}}`)
			}))
			defer api.Close()
			output, err := execute(t.Context(), Config{}, append([]string{"policies", "--address", strings.TrimPrefix(api.URL, "http://")}, tc.args...)...)
			if asked != tc.want || (err != nil) != (tc.code != 0) {
				t.Errorf("asked %q, want %q; %v: %s", asked, tc.want, err, output)
			}
		})
	}
}

// TestNoAdminAPI asks what answers with no JSON of the admin API.
func TestNoAdminAPI(t *testing.T) {
	for _, answer := range []string{"<html>", "[1]", `{"policies": 5, "managed": 5, "registry": 5, "proposals": 5, "trials": 5, "alerts": 5, "changes": 5, "sites": 5}`, ""} {
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
		address := strings.TrimPrefix(api.URL, "http://")
		for _, args := range [][]string{{"policies"}, {"managed", "show"}, {"managed", "changes"}, {"registry", "status"}, {"registry", "propose"}, {"shadow"}, {"alerts"}} {
			if output, err := execute(t.Context(), Config{}, append(args, "--address", address)...); err == nil || !strings.Contains(output, "what listens at "+address+" answers something else than the admin API of Caddy: ") {
				t.Errorf("%q answered by %q: %v, %q", args, answer, err, output)
			}
		}
		api.Close()
	}
}

// TestRefreshTellsWhatCame of each site, in words and by the exit status.
func TestRefreshTellsWhatCame(t *testing.T) {
	answers := map[string]string{
		"a.test": `{"authority": "https://a.test", "rules": 3, "refresh": {"outcome": "changed", "before": "12", "rules_before": 2}}`,
		"b.test": `{"authority": "https://b.test", "rules": 1, "findings": 4, "refresh": {"outcome": "unchanged", "before": "34", "rules_before": 1}}`,
		"c.test": `{"authority": "https://c.test", "rules": 1, "last_read": "2026-11-20T10:00:00Z", "refresh": {"outcome": "failed", "why": "the server answers status 503"}}`,
		"d.test": `{"authority": "https://d.test", "refresh": {"outcome": "waiting", "why": "no crawler has come"}}`,
		"e.test": `{"authority": "https://e.test", "rules": 5, "refresh": {"outcome": "changed"}}`,
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"policies": [{"authority": "https://a.test", "segment": "named"}, {"authority": "https://c.test", "segment": "named"},
				{"authority": "https://x.test", "segment": "invented"}], "total": 3}`)
			return
		}
		host := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/robots_guard/policies/"), "/refresh")
		_, _ = io.WriteString(w, answers[strings.TrimPrefix(host, "https:/")])
	}))
	defer api.Close()
	for _, tc := range []struct {
		name string
		args []string
		want []string // rows
		code int
	}{
		{"another text", []string{"a.test"}, []string{"https://a.test new version 3, were 2 0"}, ExitAllowed},
		{"the same", []string{"b.test"}, []string{"https://b.test unchanged 1 4"}, ExitAllowed},
		{"the first", []string{"e.test"}, []string{"https://e.test first version 5 0"}, ExitAllowed},
		{"a failure", []string{"c.test"}, []string{"https://c.test failed 1 0 the server answers status 503; the last good copy holds"}, ExitDisallowed},
		{"behind a proxy", []string{"d.test"}, []string{"https://d.test waiting 0 0 no crawler has come"}, ExitDisallowed},
		{"all that are named", nil, []string{"https://a.test new version", "https://c.test failed"}, ExitDisallowed},
		{"as JSON", []string{"--json", "b.test"}, []string{`"refresh":{"outcome":"unchanged"`}, ExitAllowed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			output, err := execute(t.Context(), Config{}, append([]string{"policies", "--refresh", "--address", strings.TrimPrefix(api.URL, "http://")}, tc.args...)...)
			if (err != nil) != (tc.code != 0) || err != nil && !errors.Is(err, ErrDisallowed) {
				t.Errorf("error %v, want exit status %d", err, tc.code)
			}
			plain := strings.Join(strings.Fields(output), " ")
			for _, row := range tc.want {
				if !strings.Contains(plain, row) {
					t.Errorf("no %q in\n%s", row, output)
				}
			}
			if strings.Contains(output, "x.test") {
				t.Errorf("a host that only clients name is read:\n%s", output)
			}
		})
	}
}

// TestRefreshOfNothing tells a new owner how to read the first robots.txt, and prints no empty table.
func TestRefreshOfNothing(t *testing.T) {
	for _, list := range []string{`{"policies": []}`, `{"policies": [{"authority": "https://a.test", "segment": "invented"}]}`} {
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, list) }))
		output, err := execute(t.Context(), Config{}, "policies", "--refresh", "--address", strings.TrimPrefix(api.URL, "http://"))
		if err != nil || strings.TrimSpace(output) != nothingToRefresh {
			t.Errorf("of %s: %v, %q", list, err, output)
		}
		api.Close()
	}
}
