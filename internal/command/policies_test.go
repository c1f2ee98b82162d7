package command

import (
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
			api := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				asked = r.Method + " " + r.RequestURI
			}))
			defer api.Close()
			output, err := execute(t.Context(), Config{}, append([]string{"policies", "--address", strings.TrimPrefix(api.URL, "http://")}, tc.args...)...)
			if asked != tc.want || (err != nil) != (tc.code != 0) {
				t.Errorf("asked %q, want %q; %v: %s", asked, tc.want, err, output)
			}
		})
	}
}
