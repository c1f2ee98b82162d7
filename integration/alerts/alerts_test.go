package alerts

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/notify"
)

const caddyfile = `{
	admin 127.0.0.1:$ADMIN
	persist_config off
	robots_guard {
		notify {env.ALERTS_URL} {
			secret {env.ALERTS_SECRET}
			wait 1s
			interval 1s
		}
	}
}
http://a.test:$PORT {
	robots_guard enforce
	root $ROOT
	file_server
}
http://page.test:$PORT {
	basic_auth {
		anna $HASH
	}
	robots_guard_dashboard
}
http://open.test:$PORT {
	robots_guard_dashboard public
}
`

// owned is a server with a webhook that receives its alerts.
type owned struct {
	*harness.Server
	t        *testing.T
	admin    string
	robots   string           // path of robots.txt
	messages chan http.Header // header of each message
	bodies   chan []byte      // body of each message
}

func serveOwned(t *testing.T) *owned {
	o := &owned{t: t, admin: harness.FreePort(t), messages: make(chan http.Header, 100), bodies: make(chan []byte, 100)}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		o.messages <- r.Header
		o.bodies <- body
	}))
	t.Cleanup(receiver.Close)
	root := harness.Files(t, map[string]string{"robots.txt": "User-agent: *\nDisallow: /private/\n", "index.html": "a page"})
	o.robots = filepath.Join(root, "robots.txt")
	hash, stderr, code := harness.Command(t, "", "hash-password", "--plaintext", "a password")
	if code != 0 {
		t.Fatal(stderr)
	}
	port := harness.FreePort(t)
	text := strings.NewReplacer("$ADMIN", o.admin, "$PORT", port, "$ROOT", root, "$HASH", strings.TrimSpace(hash)).Replace(caddyfile)
	env := []string{"ALERTS_URL=" + receiver.URL + "/a-secret-path", "ALERTS_SECRET=our secret"}
	o.Server = harness.Run(t, harness.Caddyfile(t, text), env, "127.0.0.1:"+port, "127.0.0.1:"+o.admin)
	o.Port = port
	return o
}

// reread makes the guard refetch robots.txt, and waits until the kinds and states of
// the alerts match.
func (o *owned) reread(want string) (list alert.List) {
	o.t.Helper()
	harness.Get(o.t, "http://127.0.0.1:"+o.admin+"/robots_guard/policies/a.test:"+o.Port+"/refresh", "test", harness.Method(http.MethodPost))
	harness.Eventually(o.t, want, func() bool {
		list = o.alerts()
		var got []string
		for _, a := range list.Alerts {
			got = append(got, string(a.Kind)+" "+string(a.State))
		}
		return strings.Join(got, ", ") == want
	})
	return list
}

func (o *owned) alerts() (list alert.List) {
	o.t.Helper()
	answer := harness.Get(o.t, "http://127.0.0.1:"+o.admin+"/robots_guard/alerts", "test")
	if err := json.Unmarshal([]byte(answer.Body), &list); err != nil {
		o.t.Fatalf("%v: %s", err, answer.Body)
	}
	return list
}

// message returns the next message, with a verified signature.
func (o *owned) message() (m notify.Message) {
	o.t.Helper()
	header, body := <-o.messages, <-o.bodies
	at, _ := strconv.ParseInt(header.Get(notify.TimestampHeader), 10, 64)
	if notify.Sign("our secret", at, body) != header.Get(notify.SignatureHeader) {
		o.t.Errorf("the signature is wrong: %v", header)
	}
	if err := json.Unmarshal(body, &m); err != nil {
		o.t.Fatalf("%v: %s", err, body)
	}
	return m
}

// acknowledge acknowledges an alert through a dashboard.
func (o *owned) acknowledge(host, id string, fields ...string) harness.Answer {
	o.t.Helper()
	return harness.Get(o.t, o.URL("http://"+host+"/api/alerts/"+id+"/acknowledge"), harness.Firefox, func(r *http.Request) {
		r.Method = http.MethodPost
		r.Header.Set("Content-Type", "application/json")
		r.Body = io.NopCloser(strings.NewReader(`{"note": "the shop has moved"}`))
		for i := 0; i < len(fields); i += 2 {
			r.Header.Set(fields[i], fields[i+1])
		}
	})
}

// TestAlerts follows the alert for a site that loses its robots.txt. The owner gets one
// message, acknowledges the alert on the dashboard, and gets a message at the end.
func TestAlerts(t *testing.T) {
	t.Parallel()
	o := serveOwned(t)
	harness.Eventually(t, "the robots.txt is enforced", func() bool {
		return harness.Get(t, o.URL("/private/x"), harness.GPTBot).Status == http.StatusForbidden
	})
	o.reread("")

	if err := os.Remove(o.robots); err != nil {
		t.Fatal(err)
	}
	gone := o.reread("robots_gone open").Alerts[0]
	if gone.Site != "a.test" || gone.Severity != alert.Critical || !strings.Contains(gone.RemedySnippet, "curl -i http://a.test:"+o.Port+"/robots.txt") {
		t.Errorf("%+v", gone)
	}
	if m := o.message(); len(m.OpenAlerts) != 1 || len(m.EndedAlerts) != 0 || m.OpenAlerts[0].ID != gone.ID {
		t.Errorf("sent is %+v", m)
	}

	tested := harness.Get(t, "http://127.0.0.1:"+o.admin+"/robots_guard/alerts/test", "test", harness.Method(http.MethodPost))
	if m := o.message(); !m.IsTest || len(m.OpenAlerts) != 0 || !strings.Contains(tested.Body, `"sent": true`) || strings.Contains(tested.Body, "secret") {
		t.Errorf("%+v: %s", m, tested.Body)
	}

	login := func(r *http.Request) { r.SetBasicAuth("anna", "a password") }
	request, _ := http.NewRequest(http.MethodGet, "http://a.test/", nil)
	login(request)
	authorized := []string{"Authorization", request.Header.Get("Authorization")}
	for name, tc := range map[string]struct {
		host   string
		fields []string
		status int
		holds  string
	}{
		"without a login":        {"page.test", nil, http.StatusUnauthorized, ""},
		"no login is configured": {"open.test", nil, http.StatusForbidden, "alerts can only be acknowledged with a login"},
		"an unchecked password":  {"open.test", authorized, http.StatusForbidden, "alerts can only be acknowledged with a login"},
		"a page of another site": {"page.test", append(authorized, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.test"), http.StatusForbidden, "another site"},
	} {
		if a := o.acknowledge(tc.host, gone.ID, tc.fields...); a.Status != tc.status || !strings.Contains(a.Body, tc.holds) {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	o.reread("robots_gone open")
	if a := o.acknowledge("page.test", gone.ID, authorized...); a.Status != http.StatusOK {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	known := o.reread("robots_gone acknowledged").Alerts[0]
	if by := known.Acknowledged; by.User != "anna" || by.Note != "the shop has moved" {
		t.Errorf("%+v", by)
	}
	for host, want := range map[string]string{"page.test": `"read_only": false`, "open.test": `"read_only": true`} {
		if a := harness.Get(t, o.URL("http://"+host+"/api/alerts"), harness.Firefox, login); !strings.Contains(a.Body, want) {
			t.Errorf("%s: %s", host, a.Body)
		}
	}
	stdout, stderr, code := harness.Command(t, "", "robots-guard", "status", "--address", "127.0.0.1:"+o.admin)
	if code != 0 || !strings.Contains(stdout, "no alert is open") || !strings.Contains(stdout, "acknowledged: The robots.txt of a.test is gone ("+gone.ID+"), by anna: the shop has moved") {
		t.Errorf("%d %s%s", code, stdout, stderr)
	}

	harness.Write(t, o.robots, "User-agent: *\nDisallow: /private/\n")
	o.reread("robots_changed open, robots_gone over")
	if m := o.message(); len(m.OpenAlerts) != 0 || len(m.EndedAlerts) != 1 || m.EndedAlerts[0].ID != gone.ID || m.EndedAlerts[0].Until.IsZero() {
		t.Errorf("sent is %+v", m)
	}
	o.Await("alerts were sent", 2)
	if len(o.messages) > 0 {
		t.Errorf("%d unexpected messages", len(o.messages))
	}
	if logs := o.Logs.String(); strings.Contains(logs, "a-secret-path") || strings.Contains(logs, "our secret") {
		t.Error("a secret is in the log")
	}
}
