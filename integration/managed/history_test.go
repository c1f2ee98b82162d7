package managed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// site is a server whose rules change. Its data directory survives restarts.
type site struct {
	*harness.Server
	t                 *testing.T
	home, port, admin string
	behind            string // handler behind robots_txt that serves the base, "" for none
}

func newSite(t *testing.T, rules string) *site {
	s := &site{t: t, home: t.TempDir(), port: harness.FreePort(t), admin: harness.FreePort(t)}
	s.start(rules)
	return s
}

func (s *site) config(rules string) string {
	base := "none"
	if s.behind != "" {
		base = "upstream"
	}
	return fmt.Sprintf("{\n\tadmin 127.0.0.1:%s\n}\nhttp://a.test:%s {\n\trobots_guard\n\trobots_txt {\n\t\tbase %s\n\t\t%s\n\t}\n\t%s\n}\n", s.admin, s.port, base, rules, s.behind)
}

// start starts the server with its stored data.
func (s *site) start(rules string) {
	s.t.Helper()
	s.Server = harness.Run(s.t, harness.Caddyfile(s.t, s.config(rules)), harness.Home(s.home), "127.0.0.1:"+s.port, "127.0.0.1:"+s.admin)
}

// load loads other rules and returns an error if the server rejects them.
func (s *site) load(rules string) error {
	r, err := harness.Client.Post("http://127.0.0.1:"+s.admin+"/load", "text/caddyfile", strings.NewReader(s.config(rules)))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if text, _ := io.ReadAll(r.Body); r.StatusCode != http.StatusOK {
		return fmt.Errorf("%d %s", r.StatusCode, text)
	}
	return nil
}

// read returns the robots.txt.
func (s *site) read() string {
	s.t.Helper()
	return harness.Get(s.t, "http://127.0.0.1:"+s.port+"/robots.txt", harness.Googlebot, harness.Host("a.test")).Body
}

// managed runs the command managed against the server.
func (s *site) managed(args ...string) (string, int) {
	stdout, stderr, code := harness.Command(s.t, "", append([]string{"robots-guard", "managed", args[0], "--address", "127.0.0.1:" + s.admin}, args[1:]...)...)
	return stdout + stderr, code
}

const (
	harmless = "disallow GPTBot {\n/a\n}"
	closing  = "disallow *"
)

// TestConfirmAndRollBack checks that a change that blocks search engines waits for
// confirmation, even after a kill and a restart. A rollback reverts it. The rollback
// stays after a reload and a restart with the same configuration.
func TestConfirmAndRollBack(t *testing.T) {
	t.Parallel()
	s := newSite(t, harmless)
	harness.Eventually(t, "the rules are published", func() bool { return strings.Contains(s.read(), "Disallow: /a\n") })
	if err := s.load(closing); err != nil {
		t.Fatal(err)
	}
	if text := s.read(); !strings.Contains(text, "Disallow: /a\n") {
		t.Fatalf("before the confirmation: %q", text)
	}
	s.Kill()
	s.start(closing)
	if text := s.read(); !strings.Contains(text, "Disallow: /a\n") {
		t.Errorf("after the restart: %q", text)
	}
	if out, code := s.managed("changes"); code != 0 || !strings.Contains(out, "waits for confirmation") || !strings.Contains(out, "Googlebot, bingbot, YandexBot and") {
		t.Errorf("show exits with %d: %s", code, out)
	}
	if out, code := s.managed("confirm"); code != 2 || !strings.Contains(out, "--why is missing") {
		t.Errorf("confirm without why exits with %d: %s", code, out)
	}
	if out, code := s.managed("promote"); code != 2 || !strings.Contains(out, "has to be confirmed first") {
		t.Errorf("promote exits with %d: %s", code, out)
	}
	if out, code := s.managed("confirm", "--site", "a.test", "--who", "ann", "--why", "the shop is closed", "--ticket", "OPS-1"); code != 0 || !strings.Contains(out, "a.test: published") {
		t.Errorf("confirm exits with %d: %s", code, out)
	}
	if text := s.read(); !strings.Contains(text, "User-agent: *\nDisallow: /\n") {
		t.Errorf("after the confirmation: %q", text)
	}
	if out, code := s.managed("rollback", "--why", "a mistake"); code != 0 || !strings.Contains(out, "a.test: rolled_back") || !strings.Contains(out, "within 24 hours") {
		t.Errorf("rollback exits with %d: %s", code, out)
	}
	for _, step := range []string{"rolled back", "reloaded", "restarted"} {
		switch step {
		case "reloaded":
			if err := s.load(closing + "\nmax_age 2h"); err != nil {
				t.Fatal(err)
			}
		case "restarted":
			s.Kill()
			s.start(closing)
		}
		if text := s.read(); !strings.Contains(text, "Disallow: /a\n") {
			t.Errorf("%s: %q", step, text)
		}
	}
	out, code := s.managed("history")
	for _, want := range []string{"rolled_back", "confirmed at", "ann, the shop is closed, OPS-1", "+ disallow *", "- disallow GPTBot /a"} {
		if !strings.Contains(out, want) {
			t.Errorf("history exits with %d and lacks %q: %s", code, want, out)
		}
	}
	if out, code := s.managed("rollback", "0123456789abcdef"); code != 2 || !strings.Contains(out, "no change with this ID was published") {
		t.Errorf("rollback to nothing exits with %d: %s", code, out)
	}
	if out, code := s.managed("history", "--site", "b.test"); code != 2 || !strings.Contains(out, "set the parameter site to one of a.test") {
		t.Errorf("history of another site exits with %d: %s", code, out)
	}
}

// TestKillWhilePublishing checks that if the server is killed while it publishes, it
// then serves either the previous or the new change completely. The history loses no
// change.
func TestKillWhilePublishing(t *testing.T) {
	t.Parallel()
	s := newSite(t, harmless)
	harness.Eventually(t, "the rules are published", func() bool { return strings.Contains(s.read(), "Disallow: /a\n") })
	rules := func(i int) string { return fmt.Sprintf("disallow GPTBot {\n/a/%d /b/%d\n}", i, i) }
	for i := range 6 {
		done := make(chan error, 1)
		go func() { done <- s.load(rules(i)) }()
		time.Sleep(time.Duration(i*15) * time.Millisecond) // each kill happens at a different time
		s.Kill()
		<-done
		s.start(rules(i))
		text := s.read()
		if strings.Contains(text, fmt.Sprintf("Disallow: /a/%d\n", i)) != strings.Contains(text, fmt.Sprintf("Disallow: /b/%d\n", i)) || !strings.Contains(text, "User-agent: GPTBot\n") {
			t.Fatalf("after kill %d: %q", i, text)
		}
		harness.Eventually(t, "the new rules are published", func() bool { return strings.Contains(s.read(), fmt.Sprintf("Disallow: /a/%d\n", i)) })
	}
	r := harness.Get(t, "http://127.0.0.1:"+s.admin+"/robots_guard/managed/history", "")
	var history struct {
		Published struct{ Number int }
		History   []struct {
			Number int
			ID     string
			State  string
		}
	}
	if err := json.NewDecoder(bytes.NewReader([]byte(r.Body))).Decode(&history); err != nil {
		t.Fatal(err)
	}
	if history.Published.Number != 7 || len(history.History) != 6 {
		t.Errorf("change %d is published after %d changes in the history", history.Published.Number, len(history.History))
	}
	for _, c := range history.History {
		if c.State != "superseded" {
			t.Errorf("%+v", c)
		}
		if _, code := s.managed("diff", "--from", c.ID); code != 0 {
			t.Errorf("the history lacks the rules of %s", c.ID)
		}
	}
}
