package caddymodule

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// validate validates a Caddyfile or JSON as "caddy validate" does, and returns the log and the
// error.
func validate(t *testing.T, config string) (log string, err error) {
	t.Helper()
	if !strings.HasPrefix(config, "{\"") {
		adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(config), map[string]any{"filename": "Caddyfile"})
		if err != nil {
			return "", err
		}
		config = string(adapted)
	}
	var parsed caddy.Config
	decodeJSON(t, config, &parsed)
	parsed.Admin = &caddy.AdminConfig{Disabled: true}
	parsed.StorageRaw = json.RawMessage(`{"module": "file_system", "root": ` + string(caddyconfig.JSON(t.TempDir(), nil)) + `}`)
	file := filepath.Join(t.TempDir(), "log")
	var logging caddy.Logging
	decodeJSON(t, `{"logs": {"default": {"writer": {"output": "file", "roll": false, "filename": `+string(caddyconfig.JSON(file, nil))+`}}}}`, &logging)
	parsed.Logging = &logging
	err = caddy.Validate(&parsed)
	text, _ := os.ReadFile(file) // missing before the first line
	return string(text), err
}

// TestMatcherPlaces checks that a guard runs before each matcher that uses its verdict.
func TestMatcherPlaces(t *testing.T) {
	const needs = "robots_disallowed needs a robots_guard before it"
	for _, tc := range []struct{ name, config, want string }{
		{"behind a guard", "a.test {\n robots_guard\n @x robots_disallowed *\n respond @x ok\n}", ""},
		{"without one", "a.test {\n @x robots_disallowed *\n respond @x ok\n}", "site a.test: " + needs},
		{"the guard of another site", "a.test {\n robots_guard\n}\nb.test {\n @x robots_disallowed\n respond @x ok\n}", "site b.test: " + needs},
		{"before the guard in the order of directives", "a.test {\n robots_guard\n @x robots_disallowed *\n header @x X-Y z\n}", needs},
		{"before it in a route", "a.test {\n route {\n @x robots_disallowed *\n respond @x ok\n robots_guard\n}\n}", needs},
		{"behind it in a route", "a.test {\n route {\n robots_guard\n @x robots_disallowed *\n header @x X-Y z\n}\n}", ""},
		{"in a handle behind it", "a.test {\n robots_guard\n handle /y* {\n @x robots_disallowed *\n respond @x ok\n}\n}", ""},
		{"in another handle", "a.test {\n handle /y* {\n robots_guard\n}\n handle {\n @x robots_disallowed *\n respond @x ok\n}\n}", needs},
		{"a preference without one", "a.test {\n @x robots_preference train-ai=n\n respond @x ok\n}", "site a.test: robots_preference needs a robots_guard before it"},
		{"a rate without one", "a.test {\n @x robots_rate over\n respond @x ok\n}", "site a.test: robots_rate needs a robots_guard before it"},
		{"a rate behind one", "a.test {\n robots_guard\n @x robots_rate over\n respond @x ok\n}", ""},
		{"a rate in an expression", "a.test {\n @x expression robots_rate('over')\n respond @x ok\n}", "robots_rate needs a robots_guard before it"},
		{"negated", "a.test {\n @x not robots_disallowed *\n respond @x ok\n}", needs},
		{"in an expression", "a.test {\n @x expression robots_disallowed('*')\n respond @x ok\n}", needs},
		{"a guard in a named route", "&(all) {\n robots_guard\n}\na.test {\n invoke all\n handle {\n @x robots_disallowed *\n respond @x ok\n}\n}", ""},
		{"in an error route", "a.test {\n robots_guard\n handle_errors {\n @x robots_disallowed *\n respond @x ok\n}\n}", ""},
		{"in the answer to a block", "a.test {\n robots_guard enforce {\n on_violation {\n @x robots_disallowed *\n respond @x no 403\n}\n}\n}", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := validate(t, tc.config)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestGuardPlaces finds guards that have no effect or an unintended effect.
func TestGuardPlaces(t *testing.T) {
	const (
		trusting   = "{\n servers {\n trusted_proxies static private_ranges\n trusted_proxies_strict\n }\n}\n"
		contradict = "contradict each other"
		twice      = "appears twice"
		behind     = "robots_guard comes after "
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
		{"a decision", trusting + ":9180 {\n robots_guard {\n decide forwarded a.test\n source https://{host}/robots.txt\n }\n}", ""},
		{"a decision before a site", trusting + ":9180 {\n robots_guard {\n decide forwarded a.test\n source https://{host}/robots.txt\n }\n respond ok\n}", "static_response gets no requests"},
		{"decide next to a site", trusting + ":9180 {\n handle /ok {\n respond ok\n }\n handle {\n robots_guard {\n decide forwarded a.test\n source https://{host}/robots.txt\n }\n }\n}", ""},
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
			_, err := validate(t, tc.config)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestDashboardPlaces finds dashboards that are unreachable, hide other pages, or are public by
// mistake.
func TestDashboardPlaces(t *testing.T) {
	const (
		open  = "everybody who can reach this server can open the dashboard"
		hash  = "$2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG"
		auth  = "basic_auth {\n anna " + hash + "\n }\n"
		board = "robots_guard_dashboard /robots-guard"
	)
	for _, tc := range []struct{ name, config, err, warning string }{
		{"with a path", "a.test {\n " + board + "\n respond ok\n}", "robots_guard_dashboard comes after static_response", ""},
		{"without a path", "a.test {\n robots_guard_dashboard\n reverse_proxy app:80\n}",
			"site a.test: robots_guard_dashboard answers every request here, so reverse_proxy gets no requests; give the dashboard a path", ""},
		{"in handle, next to the site", "a.test {\n handle {\n robots_guard_dashboard\n }\n file_server\n}", "file_server gets no requests", ""},
		{"as the last handle", "a.test {\n handle /x* {\n respond x\n }\n handle {\n robots_guard_dashboard public\n }\n}", "", ""},
		{"all paths", "a.test {\n robots_guard_dashboard /*\n reverse_proxy app:80\n}", "answers every request here", ""},
		{"handle for one path", "a.test {\n handle /robots-guard {\n robots_guard_dashboard\n }\n}",
			"site a.test: robots_guard_dashboard gets only requests for /robots-guard, and not for the files below this path; write /robots-guard* instead", ""},
		{"handle_path for one path", "a.test {\n handle_path /robots-guard/ {\n robots_guard_dashboard\n }\n}", "write /robots-guard* instead", ""},
		{"a matcher for one path", "a.test {\n @d path /d\n robots_guard_dashboard @d\n}", "write /d* instead", ""},

		{"a site for itself", "a.test {\n robots_guard_dashboard\n}", "", open},
		{"open", "a.test {\n " + board + "\n reverse_proxy app:80\n}", "", open},
		{"intentionally public", "a.test {\n " + board + " public\n reverse_proxy app:80\n}", "", ""},
		{"for this machine", "http://localhost:8080 {\n bind 127.0.0.1 [::1] unix//run/x\n " + board + "\n}", "", ""},
		{"for any address by the name localhost", "http://localhost:8080 {\n " + board + "\n}", "", open},
		{"for a network", "http://a.test {\n bind 10.0.0.5\n " + board + "\n}", "", open},
		{"a password", "a.test {\n handle /d* {\n " + auth + "robots_guard_dashboard\n }\n}", "", ""},
		{"a password in one of two handles", "a.test {\n handle /d* {\n " + auth + "robots_guard_dashboard\n }\n handle {\n respond x\n }\n}", "", ""},
		{"a password for its path", "a.test {\n basic_auth /robots-guard/* {\n anna " + hash + "\n }\n " + board + "\n}", "", ""},
		{"a password for another handle", "a.test {\n handle /x* {\n " + auth + "respond x\n }\n handle /d* {\n robots_guard_dashboard\n }\n}", "", open},
		{"a password for another site", "b.test {\n " + auth + "respond x\n}\na.test {\n " + board + "\n}", "", open},
		{"forward_auth", "a.test {\n forward_auth auth:80 {\n uri /\n }\n " + board + "\n}", "", ""},
		{"a proxy for another path", "a.test {\n route {\n reverse_proxy /x app:80\n " + board + "\n }\n}", "", open},
		{"addresses", "a.test {\n @d {\n path /d*\n remote_ip 10.0.0.0/8\n }\n robots_guard_dashboard @d\n}", "", ""},
		{"other addresses are refused", "a.test {\n @d not client_ip private_ranges\n respond @d 403\n " + board + "\n}", "", ""},
		{"certificates", "a.test {\n tls {\n client_auth {\n mode require\n }\n }\n " + board + "\n}", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log, err := validate(t, tc.config)
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("got %v, want %q", err, tc.err)
			}
			if warns := strings.Contains(log, open); warns != (tc.warning != "") {
				t.Errorf("the warning is %t; the log:\n%s", warns, log)
			}
		})
	}
}
