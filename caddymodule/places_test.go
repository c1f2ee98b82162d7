package caddymodule

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// validate returns the error of a Caddyfile, or of JSON, as "caddy validate" does,
// nil if it is right.
func validate(t *testing.T, config string) error {
	t.Helper()
	if !strings.HasPrefix(config, "{\"") {
		adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(config), map[string]any{"filename": "Caddyfile"})
		if err != nil {
			return err
		}
		config = string(adapted)
	}
	var parsed caddy.Config
	decodeJSON(t, config, &parsed)
	parsed.Admin = &caddy.AdminConfig{Disabled: true}
	parsed.StorageRaw = json.RawMessage(`{"module": "file_system", "root": ` + string(caddyconfig.JSON(t.TempDir(), nil)) + `}`)
	return caddy.Validate(&parsed)
}

// Guards that do nothing, or not what is meant, are found wherever they stand.
func TestGuardPlaces(t *testing.T) {
	const (
		contradict = "contradict each other"
		twice      = "stands there twice"
		behind     = "robots_guard stands behind "
	)
	for _, tc := range []struct{ name, config, want string }{
		{"once", "example.com {\n robots_guard\n respond ok\n}", ""},
		{"two modes", "example.com {\n robots_guard\n robots_guard enforce\n}", "site example.com: two robots_guard for the same requests " + contradict + " (mode)"},
		{"two options", "example.com {\n robots_guard {\n exempt GPTBot\n }\n robots_guard {\n exempt CCBot\n status 451\n }\n}", contradict + " (exempt, status)"},
		{"the same twice", "example.com {\n robots_guard enforce\n robots_guard enforce\n}", "site example.com: robots_guard " + twice},
		{"one of them in route", "example.com {\n robots_guard\n route {\n robots_guard enforce\n }\n}", contradict},
		{"one matcher twice", "example.com {\n @a path /a/*\n robots_guard @a\n robots_guard /a/* enforce\n}", contradict},
		{"two matchers", "example.com {\n robots_guard /a/*\n robots_guard /b/* enforce\n}", ""},
		{"a matcher and none", "example.com {\n robots_guard\n robots_guard /b/* enforce\n}", ""},
		{"two handles", "example.com {\n handle /a* {\n robots_guard\n }\n handle {\n robots_guard enforce\n }\n}", ""},
		{"two sites", "a.test {\n robots_guard\n}\nb.test {\n robots_guard enforce\n}", ""},
		{"the second site, the first without", "a.test {\n respond ok\n}\nb.test {\n robots_guard\n robots_guard enforce\n}", "site b.test: two"},
		{"the second site, the first with one", "a.test {\n robots_guard\n}\nb.test {\n robots_guard\n robots_guard enforce\n}", "site b.test: two"},
		{"another server", "http://a.test:8081 {\n robots_guard\n}\nhttp://a.test:8082 {\n robots_guard enforce\n}", ""},
		{"any host", ":8080 {\n robots_guard\n robots_guard enforce\n}", "the site for any host of server srv0: two"},
		{"behind respond", "example.com {\n route {\n respond ok\n robots_guard\n }\n}", behind + "static_response"},
		{"behind a proxy", "example.com {\n route {\n reverse_proxy app:80\n robots_guard\n }\n}", behind + "reverse_proxy"},
		{"last in the order", "{\n order robots_guard last\n}\nexample.com {\n robots_guard\n reverse_proxy app:80\n}", behind + "reverse_proxy"},
		{"behind respond for a path", "example.com {\n route {\n respond /x ok\n robots_guard\n }\n}", ""},
		{"behind handle for a path", "example.com {\n route {\n handle /x {\n respond ok\n }\n robots_guard\n }\n}", ""},
		{"behind forward_auth", "example.com {\n route {\n forward_auth auth:80 {\n uri /\n }\n robots_guard\n }\n}", ""},
		{"JSON", `{"apps": {"http": {"servers": {"s": {"routes": [
			{"match": [{"host": ["a.test"]}], "handle": [{"handler": "vars"}, {"handler": "robots_guard"}]},
			{"match": [{"host": ["a.test"]}], "handle": [{"handler": "robots_guard", "mode": "enforce"}]}]}}}}}`, "site a.test: two"},
		{"JSON with matchers that are not alike", `{"apps": {"http": {"servers": {"s": {"routes": [
			{"match": [{"not": [{"path": ["/a"]}]}], "handle": [{"handler": "robots_guard"}]},
			{"match": [{"not": [{"path": ["/b"]}]}], "handle": [{"handler": "robots_guard", "mode": "enforce"}]}]}}}}}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := validate(t, tc.config)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
