package forward

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// folder contains the example configurations.
const folder = "../../examples/forward/"

// site is an application behind a proxy that uses a decision point.
type site struct {
	*harness.Server // the decision point
	app             *harness.Origin
	to              string   // address of the application for the proxy
	port            string   // of the proxy
	between         string   // internal port of the proxy, to which its script connects
	cdn             string   // address of the proxy in front of the proxy, if there is one
	edits           []string // replacements in its files, as for strings.NewReplacer
	dir             string   // of its files
}

// file writes a file of the example with the ports of the test, and returns its path.
func (s *site) file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(folder + name)
	if err != nil {
		t.Fatal(err)
	}
	written := strings.NewReplacer(
		"127.0.0.1:9181", "127.0.0.1:"+s.Port, "127.0.0.1:9182", "127.0.0.1:"+s.between, ":8080", ":"+s.port, "listen 8080", "listen 127.0.0.1:"+s.port,
		"127.0.0.1:3000", s.to, "/etc/haproxy", s.dir, "/etc/apache2", s.dir, "/etc/traefik", s.dir,
	).Replace(string(text))
	written = strings.NewReplacer(s.edits...).Replace(written)
	if s.cdn != "" {
		written = uncommented(t, written, "# Behind a CDN", "203.0.113.0/24", s.cdn)
	}
	path := filepath.Join(s.dir, filepath.Base(name))
	harness.Write(t, path, written)
	return path
}

// proxies start each proxy that has an example and is available. Debian has no packages
// of Traefik and Envoy. TestTraefik and TestEnvoy send their requests, and Traefik
// itself runs if it is installed.
var proxies = map[string]func(*testing.T, *site) *exec.Cmd{
	"nginx": func(t *testing.T, s *site) *exec.Cmd {
		return harness.Nginx(t, s.dir, "include "+s.file(t, "nginx/site.conf")+";")
	},
	"haproxy": func(t *testing.T, s *site) *exec.Cmd {
		s.file(t, "haproxy/robots_guard.lua")
		large := filepath.Join(s.dir, "large.cfg")
		harness.Write(t, large, "global\n\ttune.bufsize 131072\n")
		return exec.Command(harness.Program(t, "haproxy", "haproxy", "REQUIRE_PROXIES"), "-db", "-f", large, "-f", s.file(t, "haproxy/haproxy.cfg"))
	},
	"apache": func(t *testing.T, s *site) *exec.Cmd {
		binary := harness.Program(t, "apache2", "apache2", "REQUIRE_PROXIES")
		if exec.Command("lua5.3", "-v").Run() != nil {
			if _, err := os.Stat("/usr/share/lua/5.3/socket.lua"); err != nil {
				harness.Missing(t, "lua-socket", "REQUIRE_PROXIES")
			}
		}
		s.file(t, "apache/robots_guard.lua")
		config := filepath.Join(s.dir, "apache2.conf")
		text := "ServerRoot " + s.dir + "\nPidFile " + s.dir + "/pid\nErrorLog " + s.dir + "/error.log\nServerName proxy.test\nListen 127.0.0.1:" + s.port +
			"\nLimitRequestLine 16000\nStartServers 1\n"
		for _, module := range []string{"mpm_event", "authz_core", "remoteip", "lua", "proxy", "proxy_http"} {
			text += "LoadModule " + module + "_module /usr/lib/apache2/modules/mod_" + module + ".so\n"
		}
		if os.Getuid() == 0 {
			text += "User root\nGroup root\n"
			if err := os.Chmod(s.dir, 0o755); err != nil {
				t.Fatal(err)
			}
			text = strings.ReplaceAll(text, "User root\nGroup root", "User nobody\nGroup nogroup")
		}
		harness.Write(t, config, text+"Include "+s.file(t, "apache/site.conf")+"\n")
		for _, name := range []string{"robots_guard.lua", "site.conf"} {
			if err := os.Chmod(filepath.Join(s.dir, name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return exec.Command(binary, "-X", "-f", config)
	},
	"caddy": func(t *testing.T, s *site) *exec.Cmd {
		config := s.file(t, "caddy/Caddyfile")
		text, err := os.ReadFile(config)
		if err != nil {
			t.Fatal(err)
		}
		harness.Write(t, config, strings.Replace(string(text), "{\n", "{\n\tadmin off\n\tpersist_config off\n", 1))
		cmd := exec.Command(harness.Binary(t), "run", "--config", config, "--adapter", "caddyfile")
		cmd.Env = harness.Home(s.dir)
		return cmd
	},
	"traefik": func(t *testing.T, s *site) *exec.Cmd {
		binary, err := exec.LookPath("traefik")
		if err != nil {
			t.Skip("traefik is not installed; TestTraefik sends the same requests")
		}
		s.file(t, "traefik/dynamic.yaml")
		return exec.Command(binary, "--configfile="+s.file(t, "traefik/traefik.yaml"))
	},
}

// without is the response of each proxy to a browser while the decision point is down.
var without = map[string]int{"nginx": 500, "haproxy": 200, "apache": 200, "caddy": 502, "traefik": 502}

// behind runs a proxy in front of an application, with a decision point.
func behind(t *testing.T, name string) *site {
	t.Helper()
	s := beside(t)
	s.front(t, name)
	return s
}

// front runs a proxy in front of the application.
func (s *site) front(t *testing.T, name string) {
	t.Helper()
	cmd := proxies[name](t, s)
	cmd.WaitDelay = 2 * time.Second // for its child processes
	harness.Attend(t, cmd, "127.0.0.1:"+s.port)
	if name == "traefik" { // listens before it has loaded its routers
		harness.Eventually(t, "a router", func() bool {
			status, _ := s.raw(t, harness.Firefox, "/robots.txt")
			return status != 404
		})
	}
}

// beside runs an application and a decision point. edits are replacements in the
// configuration of the decision point, as for strings.NewReplacer.
func beside(t *testing.T, edits ...string) *site {
	t.Helper()
	dir, err := os.MkdirTemp("", "forward") // readable for Apache's workers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &site{port: harness.FreePort(t), between: harness.FreePort(t), dir: dir}
	s.app = harness.NewOrigin(t, robots, func(w http.ResponseWriter, r *http.Request) bool {
		p, err := url.PathUnescape(r.URL.EscapedPath()) // treats as many spellings as possible as equal
		if err == nil && path.Clean("/"+strings.ReplaceAll(p, `\`, "/")) == "/private/x.txt" {
			fmt.Fprint(w, "SECRET")
			return true
		}
		if r.URL.Path == "/echo" {
			fmt.Fprintf(w, "verdict %q for %s as %q", r.Header["X-Robots-Guard-Verdict"], r.Host, r.Header["X-Robots-Guard-Identity"])
			return true
		}
		return false
	})
	s.to = s.app.Address()
	text, err := os.ReadFile(folder + "Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	globals := strings.Replace(string(text), "{\n", "{\n\tadmin off\n\tpersist_config off\n\tskip_install_trust\n", 1)
	port := harness.FreePort(t)
	config := strings.NewReplacer(append(edits, ":9181", ":"+port, "127.0.0.1:3000", s.app.Address(),
		"allow_private on", "allow_private on\nfetch_wait 20s\nfetch_timeout 20s\nrate enforce")...).Replace(globals)
	s.Server = harness.Start(t, config, "127.0.0.1:"+port)
	s.Port = port
	return s
}

// raw sends a request to the proxy.
func (s *site) raw(t *testing.T, userAgent, target string, fields ...string) (int, string) {
	t.Helper()
	more := strings.Join(append(fields, ""), "\r\n")
	return harness.Raw(t, &harness.Server{Port: s.port}, "GET "+target+" HTTP/1.1\r\nHost: example.com\r\nUser-Agent: "+userAgent+"\r\n"+more+"Connection: close\r\n\r\n")
}

// TestProxies tests each proxy of the examples with a decision point.
func TestProxies(t *testing.T) {
	t.Parallel()
	for name := range proxies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := behind(t, name)
			for _, tc := range []struct {
				what, userAgent, target, field string
				status                         int
				body                           string
			}{
				{"a browser", harness.Firefox, "/private/x.txt", "", 200, "SECRET"},
				{"a bot", harness.Bingbot, "/private/x.txt", "", 403, "Disallow: /private/"},
				{"an allowed page", harness.Bingbot, "/public/", "", 200, "origin /public/"},
				{"robots.txt", harness.Bingbot, "/robots.txt", "", 200, "Disallow"},
				{"the verdict", harness.Bingbot, "/echo", "", 200, `verdict ["allowed"] for example.com`},
				{"a forged verdict", harness.Bingbot, "/echo", "X-Robots-Guard-Verdict: exempt", 200, `verdict ["allowed"] for example.com`},
				{"a browser's forged verdict", harness.Firefox, "/echo", "X-Robots-Guard-Verdict: exempt", 200, "verdict [] for example.com"},
				{"a forged identity", harness.Bingbot, "/echo", "X-Robots-Guard-Identity: verified", 200, `as ["claimed"]`},
				{"a browser's forged identity", harness.Firefox, "/echo", "X-Robots-Guard-Identity: verified", 200, "as []"},
				{"another target", harness.Bingbot, "/private/x.txt", "X-Forwarded-Uri: /public/", 403, "Disallow: /private/"},
				{"another target, as nginx has it", harness.Bingbot, "/private/x.txt", "X-Original-URI: /public/", 403, ""},
				{"another URL", harness.Bingbot, "/private/x.txt", "X-Original-URL: https://example.com/public/", 403, ""},
				{"another method", harness.Bingbot, "/private/x.txt", "X-Forwarded-Method: OPTIONS", 403, ""},
				{"another host", harness.Bingbot, "/private/x.txt", "X-Forwarded-Host: open.test", 403, ""},
				{"a large cookie", harness.Bingbot, "/private/x.txt", "Cookie: a=" + strings.Repeat("x", 6000), 403, ""},
			} {
				var fields []string
				if tc.field != "" {
					fields = []string{tc.field}
				}
				status, body := s.raw(t, tc.userAgent, tc.target, fields...)
				if status != tc.status || !strings.Contains(body, tc.body) {
					t.Errorf("%s: %d %.300q, want %d %s", tc.what, status, body, tc.status, tc.body)
				}
			}
			slowed := false
			for range 30 {
				answer := harness.Get(t, "http://example.com:"+s.port+"/page.html", "AhrefsBot/7.0")
				slowed = slowed || answer.Status == 429 && answer.Header.Get("Retry-After") != ""
			}
			if !slowed {
				t.Error("a crawler that exceeds the rate gets no 429 with Retry-After")
			}
			s.Stop()
			if status, body := s.raw(t, harness.Firefox, "/public/"); status != without[name] {
				t.Errorf("without the decision point: %d %q, want %d", status, body, without[name])
			}
		})
	}
}

// TestProxiesEvaded requests a disallowed target in all spellings through each proxy.
// If a spelling returns the page to a browser, a crawler must be blocked for that
// spelling. No crawler may get the page.
func TestProxiesEvaded(t *testing.T) {
	t.Parallel()
	for name := range proxies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := behind(t, name)
			served := 0
			for _, target := range append(harness.Spellings(), harness.OddSpellings()...) {
				target = strings.NewReplacer("$PORT", s.port, "a.test", "example.com", "A.TEST", "EXAMPLE.COM").Replace(target)
				_, body := s.raw(t, harness.Firefox, target)
				status, crawled := s.raw(t, harness.Bingbot, target)
				if strings.Contains(crawled, "SECRET") {
					t.Errorf("%.200q: a crawler got the disallowed file", target)
				}
				if strings.Contains(body, "SECRET") {
					served++
					if status != 403 {
						t.Errorf("%.200q: a crawler got %d, but a browser gets the disallowed file", target, status)
					}
				}
			}
			t.Logf("%d spellings served", served)
			if served < 30 {
				t.Errorf("only %d spellings reach the file; check the test's site", served)
			}
			for _, host := range []string{"EXAMPLE.COM", "example.com.", "Example.com:80", "example.com:" + s.port, "example.com:"} {
				status, body := harness.Raw(t, &harness.Server{Port: s.port}, "GET /private/x.txt HTTP/1.1\r\nHost: "+host+"\r\nUser-Agent: "+harness.Bingbot+"\r\nConnection: close\r\n\r\n")
				if strings.Contains(body, "SECRET") {
					t.Errorf("host %s: %d %q", host, status, body)
				}
			}
		})
	}
}
