package command

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// configured returns a configuration with these sites.
func configured(sites ...Site) Config {
	return Config{
		Sites: func(string, string) ([]Site, *uaident.Registry, error) { return sites, uaident.Default(), nil },
	}
}

// besideCaddyfile changes to a directory with a Caddyfile.
func besideCaddyfile(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("Caddyfile", nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// privateRobots returns a file that disallows /private/.
func privateRobots(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "robots.txt")
	if err := os.WriteFile(name, []byte("User-agent: *\nDisallow: /private/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestSiteOfAURL selects the settings of the URL's site.
func TestSiteOfAURL(t *testing.T) {
	enforced := Site{Hosts: []string{"a.test", "www.a.test"}, Settings: judge.Settings{Enforce: true}}
	watched := Site{Hosts: []string{"b.test"}, HasMatchers: true}
	broken := Site{Hosts: []string{"c.test"}, Err: errors.New("wildcard: unknown class")}
	all := []Site{enforced, watched, broken}
	twice := []Site{
		{Hosts: []string{"a.test"}, Listen: []string{":8081"}},
		{Hosts: []string{"a.test"}, Listen: []string{"127.0.0.1:8082", ":443"}, Settings: judge.Settings{Enforce: true}},
	}
	enforce := judge.Settings{Enforce: true}
	redirected := []Site{
		{Listen: []string{":80"}},
		{Hosts: []string{"a.test"}, Listen: []string{":443"}, IsRedirectTarget: true, Settings: enforce},
		{Hosts: []string{"b.test"}, Listen: []string{":80"}, Settings: enforce},
		{Hosts: []string{"b.test"}, Listen: []string{":443"}, IsRedirectTarget: true},
		{Hosts: []string{"*.d.test"}, Listen: []string{":443"}, IsRedirectTarget: true, Settings: enforce},
		{Hosts: []string{"e.test"}, Listen: []string{":443"}, Settings: enforce},
		{Hosts: []string{"f.test"}, Listen: []string{":80"}},
		{Hosts: []string{"f.test"}, Listen: []string{":443"}},
	}
	robots := privateRobots(t)
	besideCaddyfile(t)
	for _, tc := range []struct {
		name  string
		sites []Site
		url   string
		want  string // a part of the output or the error
	}{
		{"the first", all, "https://www.a.test/private/", "robots_guard of a.test, www.a.test, mode enforce"},
		{"the second", all, "https://b.test/private/", "robots_guard of b.test, mode monitor"},
		{"a user", all, "https://anna:secret@b.test/private/", "robots_guard of b.test, mode monitor"},
		{"IPv6", []Site{enforced, {Hosts: []string{"::1"}}}, "http://[::1]:8080/private/", "robots_guard of ::1, mode monitor"},
		{"a scheme in capitals", all, "HTTPS://B.test/private/", "robots_guard of b.test, mode monitor"},
		{"a trailing dot, which Caddy compares", all, "https://b.test.:8443/private/", "no robots_guard is configured for b.test.; configured sites: a.test, www.a.test, b.test, c.test"},
		{"one of two by its port", twice, "http://a.test:8082/private/", "mode enforce"},
		{"the other", twice, "http://a.test:8081/private/", "mode monitor"},
		{"one of two by its scheme", twice, "https://a.test/private/", "mode enforce"},
		{"a port that something outside maps", twice, "http://a.test:9000/private/", "the site has several robots_guard; this is the action of the first"},
		{"redirected by Caddy, before any host by http", redirected, "http://a.test/private/", "mode enforce"},
		{"any host by http", redirected, "http://c.test/private/", "mode monitor"},
		{"a host that is by http, too", redirected, "http://b.test/private/", "mode enforce"},
		{"the same with its port", redirected, "http://a.test:80/private/", "mode enforce"},
		{"a wildcard that is redirected", redirected, "http://x.d.test/private/", "mode enforce"},
		{"not redirected", redirected, "http://e.test/private/", "mode monitor"},
		{"by both, with the same settings", redirected, "http://f.test:8080/private/", "mode monitor"},
		{"another port is meant", redirected, "http://a.test:8080/private/", "mode enforce"},
		{"a named host before any", []Site{{Settings: judge.Settings{Enforce: true}}, watched}, "https://b.test/private/", "mode monitor"},
		{"behind matchers", all, "https://b.test/private/", "robots_guard has matchers other than the host"},
		{"one that cannot be used", all, "https://c.test/private/", "wildcard: unknown class"},
		{"none", all, "https://d.test/private/", "no robots_guard is configured for d.test; configured sites: a.test, www.a.test, b.test, c.test"},
		{"no host", all, "/private/", "several sites use robots_guard"},
		{"no host, one site", []Site{enforced}, "/private/", "mode enforce"},
		{"the first of several", []Site{watched, enforced, {Hosts: watched.Hosts, HasMatchers: true, Settings: enforce}}, "https://b.test/private/", "the site has several robots_guard; this is the action of the first"},
		{"two that are alike", []Site{watched, watched}, "https://b.test/private/", "mode monitor"},
		{"any host", []Site{watched, {Settings: judge.Settings{Enforce: true}}}, "https://d.test/private/", "robots_guard, mode enforce"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			output, err := execute(t.Context(), configured(tc.sites...), "explain", "--config", "Caddyfile", "--robots", robots,
				"--user-agent", "GPTBot/1.3", tc.url)
			if err != nil && output == "" {
				output = err.Error()
			}
			if !strings.Contains(strings.Join(strings.Fields(output), ""), strings.ReplaceAll(tc.want, " ", "")) {
				t.Errorf("no %q in %q", tc.want, output)
			}
			const several = "the site has several robots_guard"
			if strings.Contains(output, several) != strings.Contains(tc.want, several) {
				t.Errorf("that there are several stands wrongly, or not, in %q", output)
			}
		})
	}
}

// TestAuditedSites uses the settings of one site, or of several sites with equal settings.
func TestAuditedSites(t *testing.T) {
	log := filepath.Join(t.TempDir(), "access.log")
	line := `{"host":"a.test","request_method":"GET","request_uri":"/private/","http_user_agent":"GPTBot/1.3"}`
	if err := os.WriteFile(log, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	besideCaddyfile(t)
	config := configured(Site{Hosts: []string{"a.test", "www.a.test"}, Source: privateRobots(t)}, Site{Hosts: []string{"b.test"}, Source: filepath.Join(t.TempDir(), "missing.txt")},
		Site{Hosts: []string{"c.test"}, Listen: []string{":8081"}, Source: privateRobots(t)},
		Site{Hosts: []string{"c.test"}, Listen: []string{":8082"}, Settings: judge.Settings{Enforce: true}},
		Site{Hosts: []string{"e.test"}, Source: privateRobots(t)}, Site{Hosts: []string{"*.f.test"}, Source: privateRobots(t)})
	for _, tc := range []struct {
		name, want string
		args       []string
	}{
		{"one, by the source of the configuration", "GPTBot", []string{"--site", "a.test"}},
		{"two hosts of one", "GPTBot", []string{"--site", "a.test", "--site", "www.a.test"}},
		{"two sites", "GPTBot", []string{"--site", "a.test", "--site", "c.test"}},
		{"the first of two ports", "Caddyfile has several robots_guard for c.test; the audit uses the first.", []string{"--site", "c.test"}},
		{"the same, named twice", "Caddyfile has several robots_guard for c.test; the audit uses the first.", []string{"--site", "c.test", "--site", "https://c.test:8081"}},
		{"all", "GPTBot", nil},
		{"all, of which one has two", "Caddyfile has several robots_guard for c.test; the audit uses the first.", nil},
		{"all, of which one is a pattern", "Not audited: *.f.test. Name a host with --site to audit it.", nil},
		{"all, of which one has no robots.txt", "Requests for b.test were not judged: ", nil},
		{"one that there is not", "no robots_guard is configured for d.test", []string{"--site", "d.test"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			output, err := execute(t.Context(), config, append([]string{"audit", "--config", "Caddyfile", log}, tc.args...)...)
			if err != nil && output == "" {
				output = err.Error()
			}
			if !strings.Contains(strings.Join(strings.Fields(output), ""), strings.ReplaceAll(tc.want, " ", "")) {
				t.Errorf("no %q in %q", tc.want, output)
			}
		})
	}
}

// TestAuditOfSeveralSites judges each request by the settings of its host, and returns an error
// for a log without hosts.
func TestAuditOfSeveralSites(t *testing.T) {
	besideCaddyfile(t)
	robots := privateRobots(t)
	exempt, err := judge.ParseClientSet(uaident.Default(), []string{"GPTBot"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	config := configured(Site{Hosts: []string{"a.test"}, Source: robots}, Site{Hosts: []string{"b.test"}, Source: robots, Settings: judge.Settings{Exempt: exempt}},
		Site{Hosts: []string{"MÜnchen.test"}, Source: robots})
	line := func(host string) string {
		return `{"host":"` + host + `","request_method":"GET","request_uri":"/private/","http_user_agent":"GPTBot/1.3"}` + "\n"
	}
	for name, tc := range map[string]struct {
		log, want string
		args      []string
	}{
		"all sites":              {line("a.test") + line("b.test") + line("b.test") + line("c.test"), `"token":"GPTBot","class":"ai_training","requests":3,"allowed":0,"disallowed":1,"stale":0,"exempt":2`, nil},
		"all by one robots.txt":  {line("a.test") + line("b.test"), `"token":"GPTBot","class":"ai_training","requests":2,"allowed":0,"disallowed":1,"stale":0,"exempt":1`, []string{"--robots", robots}},
		"two of three hosts":     {line("a.test") + line("b.test") + line("c.test"), `"token":"GPTBot","class":"ai_training","requests":2,"allowed":0,"disallowed":1,"stale":0,"exempt":1`, []string{"--site", "a.test", "--site", "b.test"}},
		"one site":               {line("a.test") + line("b.test"), `"token":"GPTBot","class":"ai_training","requests":1,"allowed":0,"disallowed":0,"stale":0,"exempt":1`, []string{"--site", "b.test"}},
		"an IDN in punycode":     {line("xn--mnchen-3ya.test"), `"token":"GPTBot","class":"ai_training","requests":1,"allowed":0,"disallowed":1,"stale":0,"exempt":0`, nil},
		"a log without any host": {strings.ReplaceAll(line("a.test"), `"host":"a.test",`, ""), "the logs contain no hosts; choose one with --site", nil},
	} {
		t.Run(name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "access.log")
			if err := os.WriteFile(log, []byte(tc.log), 0o600); err != nil {
				t.Fatal(err)
			}
			output, err := execute(t.Context(), config, append([]string{"audit", "--config", "Caddyfile", "--json", log}, tc.args...)...)
			if err != nil && output == "" {
				output = err.Error()
			}
			if !strings.Contains(strings.Join(strings.Fields(output), ""), strings.ReplaceAll(tc.want, " ", "")) {
				t.Errorf("no %q in %q", tc.want, output)
			}
		})
	}
}
