package integration

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// reloadable is a server with an admin endpoint, and how to give it another
// configuration.
type reloadable struct {
	*server
	admin  string
	config string
}

const reloadableConfig = `{
	admin 127.0.0.1:$ADMIN
	persist_config off
}
http://127.0.0.1:$METRICS {
	metrics /metrics
}
http://a.test:$PORT {
	robots_guard enforce
	header X-Config "$NAME"
	$MORE
	reverse_proxy $ORIGIN {
		transport http {
			keepalive off # stock Caddy leaves these connections to idle after a reload
			dial_timeout 30s # of 3 s a loaded machine needs more
		}
	}
}
`

func serveReloadable(t *testing.T, o *origin) *reloadable {
	t.Helper()
	s := &reloadable{admin: freePort(t)}
	port, metrics := freePort(t), freePort(t)
	s.config = strings.NewReplacer("$ADMIN", s.admin, "$METRICS", metrics, "$PORT", port, "$ORIGIN", o.address()).Replace(reloadableConfig)
	s.server = start(t, s.named("first", ""), "127.0.0.1:"+port, "127.0.0.1:"+metrics, "127.0.0.1:"+s.admin)
	s.port = port
	metricsOf.Store(s.server, metrics)
	return s
}

// named returns the configuration with a name and more directives in the site.
func (s *reloadable) named(name, more string) string {
	return strings.NewReplacer("$NAME", name, "$MORE", more).Replace(s.config)
}

// load gives the server another configuration and returns the answer.
func (s *reloadable) load(caddyfile string) (status int, body string) {
	s.t.Helper()
	var response *http.Response
	eventually(s.t, "the admin endpoint answers", func() bool {
		r, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:"+s.admin+"/load", strings.NewReader(caddyfile))
		if err != nil {
			s.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "text/caddyfile")
		response, err = client.Do(r) // fails at times while the endpoint itself is replaced
		return err == nil
	})
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text)
}

func TestReloadKeepsState(t *testing.T) {
	t.Parallel()
	o := newOrigin(t, closedRobots, nil)
	s := serveReloadable(t, o)
	s.warm("/")
	block := func() {
		t.Helper()
		if a := get(t, s.url("/private/x"), bingbot); a.status != 403 {
			t.Errorf("got %d", a.status)
		}
	}
	blocked := func() float64 { return s.metrics().sum(requestsMetric, `action="blocked"`) }
	block()
	if n := blocked(); n != 1 {
		t.Fatalf("%v requests counted as blocked, want 1", n)
	}

	if status, body := s.load(s.named("second", "")); status != 200 {
		t.Fatalf("reload: %d %s", status, body)
	}
	if name := get(t, s.url("/"), firefox).header.Get("X-Config"); name != "second" {
		t.Fatalf("the configuration is %q", name)
	}
	// A library is judged at once, so the policy is still there, and known.
	block()
	if n := blocked(); n != 2 {
		t.Errorf("%v requests counted as blocked after a reload, want 2", n)
	}

	// Loads that fail, at different times.
	for name, caddyfile := range map[string]string{
		"syntax":    s.named("bad", "robots_guard nonsense"),
		"contra":    s.named("bad", "robots_guard {\n exempt Googlebot\n only_log Googlebot\n }"),
		"provision": s.named("bad", "tls_not_known_directive"),
		"later":     s.named("bad", "templates {\n between only_one\n }"),
		"start":     s.named("bad", "") + fmt.Sprintf("http://:%s {\n bind 192.0.2.1\n robots_guard enforce\n}\n", freePort(t)),
	} {
		if status, body := s.load(caddyfile); status == 200 {
			t.Errorf("%s: a bad configuration was loaded: %s", name, body)
		}
		if name := get(t, s.url("/"), firefox).header.Get("X-Config"); name != "second" {
			t.Errorf("after a failed load the configuration is %q", name)
		}
	}
	block()
	if n := blocked(); n != 3 {
		t.Errorf("%v requests counted as blocked after failed loads, want 3", n)
	}
	if status, body := s.load(s.named("third", "")); status != 200 {
		t.Fatalf("reload: %d %s", status, body)
	}
	block()
	if n := blocked(); n != 4 {
		t.Errorf("%v requests counted as blocked after failed loads and a reload, want 4", n)
	}
	if n := o.requests("/robots.txt"); n != 1 {
		t.Errorf("the robots.txt was read %d times, want 1", n)
	}
	if n := s.metrics().sum("caddy_robots_guard_policies_cached", `segment="named"`); n != 1 {
		t.Errorf("%v policies are cached, want 1", n)
	}
}

// TestReloadChangesSettings reloads with another mode: the state stays, the
// settings do not.
func TestReloadChangesSettings(t *testing.T) {
	t.Parallel()
	o := newOrigin(t, closedRobots, nil)
	s := serveReloadable(t, o)
	s.warm("/")
	for i, tc := range []struct {
		directive string
		status    int
	}{
		{"robots_guard monitor", 200},
		{"robots_guard enforce {\n status 410\n }", 410},
		{"robots_guard enforce {\n exempt bingbot\n }", 200},
		{"# none", 200},
		{"robots_guard enforce", 403},
	} {
		config := strings.Replace(s.named(fmt.Sprint(i), ""), "robots_guard enforce", tc.directive, 1)
		if status, body := s.load(config); status != 200 {
			t.Fatalf("%s: %d %s", tc.directive, status, body)
		}
		// The configuration without a guard ends the state; the next one reads anew.
		eventually(t, fmt.Sprintf("%s answers %d", tc.directive, tc.status), func() bool {
			return get(t, s.url("/private/x"), bingbot).status == tc.status
		})
	}
}

// TestReloadUnderTraffic reloads all the time while crawlers and browsers come:
// no verdict is ever another, and nothing is left behind.
func TestReloadUnderTraffic(t *testing.T) {
	t.Parallel()
	o := newOrigin(t, closedRobots, nil)
	s := serveReloadable(t, o)
	s.warm("/")
	for i := range 3 { // what the first reloads leave is no leak
		s.load(s.named(fmt.Sprint("before ", i), ""))
	}
	settled := func() float64 {
		time.Sleep(200 * time.Millisecond) // goroutines of closed connections end when they get to it
		return s.metrics()["go_goroutines"]
	}
	before := settled()
	if before == 0 {
		t.Fatal("there is no metric go_goroutines")
	}

	var stop atomic.Bool
	var requests, retried atomic.Int64
	var traffic sync.WaitGroup
	for _, v := range []visit{
		{bingbot, "/private/x", 403, ""},
		{bingbot, "/page", 200, "origin"},
		{firefox, "/private/x", 200, "origin"},
		{gptBot, "/page", 403, ""},
	} {
		traffic.Go(func() {
			for !stop.Load() {
				a, err := try(client, s.url(v.path), v.userAgent)
				if err != nil {
					retried.Add(1) // stock Caddy resets some connections while it reloads
					continue
				}
				requests.Add(1)
				if a.status != v.status || !strings.Contains(a.body, v.body) {
					t.Errorf("%s as %q: got %d %q", v.path, v.userAgent, a.status, a.body)
				}
			}
		})
	}
	const reloads = 60
	for i := range reloads {
		if status, body := s.load(s.named(fmt.Sprint(i), "")); status != 200 {
			t.Errorf("reload: %d %s", status, body)
		}
	}
	stop.Store(true)
	traffic.Wait()
	t.Logf("%d requests, %d broken connections, during %d reloads", requests.Load(), retried.Load(), reloads)
	if requests.Load() < reloads {
		t.Errorf("only %d requests were made", requests.Load())
	}
	if n := o.requests("/robots.txt"); n != 1 {
		t.Errorf("the robots.txt was read %d times, want 1", n)
	}
	var after float64
	defer func() {
		if t.Failed() {
			t.Logf("%v goroutines before, %v after:\n%s", before, after,
				tail(get(t, "http://127.0.0.1:"+s.admin+"/debug/pprof/goroutine?debug=1", firefox).body, 20_000))
		}
	}()
	eventually(t, fmt.Sprintf("no more goroutines than the %v before", before), func() bool {
		after = settled()
		return after <= before+10
	})
}
