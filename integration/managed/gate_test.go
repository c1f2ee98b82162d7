package managed

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

const opening = `http://a.test {
	robots_txt {
		base file $BASE
		disallow GPTBot
		rule press {
			for bingbot
			allow /private/press
			from $FROM
		}
		gate $GATE
	}
}
`

// TestGateAtTheStart checks that caddy validate and managed check report the same
// finding, with the rule and its line.
func TestGateAtTheStart(t *testing.T) {
	t.Parallel()
	base := filepath.Join(harness.Files(t, map[string]string{"robots.txt": "User-agent: *\nDisallow: /private/\n"}), "robots.txt")
	const says = "rule press: it allows bingbot to fetch /private/press"
	for gate, code := range map[string]int{"error": 0, "warning": 1, "off": 0} {
		file := harness.Caddyfile(t, strings.NewReplacer("$BASE", base, "$GATE", gate, "$FROM", time.Now().Add(24*time.Hour).Format(time.RFC3339)).Replace(opening))
		_, stderr, validated := harness.Command(t, "", "validate", "--config", file)
		if (validated != 0) != (code != 0) || strings.Contains(stderr, says) != (gate != "off") || gate != "off" && !strings.Contains(stderr, file+":") {
			t.Errorf("gate %s: validate exits with %d: %s", gate, validated, stderr)
		}
		stdout, stderr, checked := harness.Command(t, "", "robots-guard", "managed", "check", "--config", file, "--adapter", "caddyfile")
		if checked != code || !strings.Contains(stdout, says) || !strings.Contains(stdout, file+":") {
			t.Errorf("gate %s: check exits with %d: %s%s", gate, checked, stdout, stderr)
		}
	}
}

// TestCheckWithBase checks that managed check accepts another base, and reports
// findings as JSON.
func TestCheckWithBase(t *testing.T) {
	t.Parallel()
	file := harness.Caddyfile(t, strings.NewReplacer("$BASE", filepath.Join(t.TempDir(), "missing"), "$GATE", "warning", "$FROM", "2020-01-01T00:00:00Z").Replace(opening))
	check := func(stdin string, more ...string) (out struct {
		Sites []struct {
			Hosts    []string
			Stopped  bool
			Findings []struct{ Code, At string }
		}
	}, code int) {
		stdout, stderr, code := harness.Command(t, stdin, append([]string{"robots-guard", "managed", "check", "-c", file, "-a", "caddyfile", "--json"}, more...)...)
		if err := json.Unmarshal([]byte(stdout), &out); err != nil || len(out.Sites) != 1 {
			t.Fatalf("%v: %s%s", err, stdout, stderr)
		}
		return out, code
	}
	if out, code := check(""); code != 0 || len(out.Sites[0].Findings) > 0 || out.Sites[0].Hosts[0] != "a.test" {
		t.Errorf("without a base: exit %d, %+v", code, out)
	}
	if out, code := check("User-agent: *\nDisallow: /private/\n", "--base", "-"); code != 1 || !out.Sites[0].Stopped || out.Sites[0].Findings[0].Code != "rule-opens-base" {
		t.Errorf("with a base: exit %d, %+v", code, out)
	}
}

// TestGateAtRunTime checks that a robots.txt that the gate rejects is not served. A
// reload with such rules fails. If a later base leads to a finding, the server keeps
// the previous robots.txt.
func TestGateAtRunTime(t *testing.T) {
	t.Parallel()
	base := filepath.Join(harness.Files(t, map[string]string{"robots.txt": "User-agent: *\nDisallow: /shop\n"}), "robots.txt")
	o := harness.NewOrigin(t, "", nil)
	s := harness.ServeReloadable(t, o)
	config := "robots_txt {\nbase file " + base + "\ngate warning\nrule press {\nfor bingbot\nallow /private/press\n}\n}\n"
	if status, body := s.Load(s.Named("a.test", config)); status != 200 {
		t.Fatalf("got %d %s", status, body)
	}
	read := func() string {
		return harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Host("a.test")).Body
	}
	before := read()
	if !strings.Contains(before, "Disallow: /shop\nAllow: /private/press\n") {
		t.Fatalf("got %q", before)
	}
	if err := os.WriteFile(base, []byte("User-agent: *\nDisallow: /private/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, body := s.Load(s.Named("a.test", config+"# again\nheader X-New 1\n"))
	if status == 200 || !strings.Contains(body, "rule press: it allows bingbot to fetch /private/press") {
		t.Errorf("a reload got %d %s", status, body)
	}
	if now := read(); now != before {
		t.Errorf("after the refused reload: %q", now)
	}
}

// TestBaseFileMissing checks that the path of a missing base file is an error at load
// time, because a robots.txt without the site's own rules would be served otherwise.
func TestBaseFileMissing(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "robot.txt")
	file := harness.Caddyfile(t, "http://a.test {\n\trobots_txt {\n\t\tbase file "+base+"\n\t\tdisallow GPTBot\n\t}\n}\n")
	_, stderr, code := harness.Command(t, "", "validate", "--config", file)
	if want := "base file " + base + ": file not found; correct the path, or write base none"; code == 0 || !strings.Contains(stderr, want) || !strings.Contains(stderr, ", at "+file+":3") {
		t.Errorf("exit %d: %s; want %q", code, stderr, want)
	}
}
