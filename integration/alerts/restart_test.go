package alerts

import (
	"os"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestAcknowledgedOverARestart keeps with storage on what an owner has acknowledged
// on the command line.
func TestAcknowledgedOverARestart(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const id = "5c9d0e4e-3b1c-4d39-9a0e-6d3f6a4b8f10"
	harness.NameInstance(t, home, id)
	run := func() *owned {
		o := &owned{t: t, admin: harness.FreePort(t)}
		port := harness.FreePort(t)
		text := strings.NewReplacer("$ADMIN", o.admin, "$PORT", port).Replace(`{
			admin 127.0.0.1:$ADMIN
			persist_config off
			robots_guard {
				storage on
			}
		}
		http://a.test:$PORT {
			robots_guard enforce
			respond "no robots.txt" 404
		}`)
		o.Server = harness.Run(t, harness.Caddyfile(t, text), []string{"XDG_DATA_HOME=" + home}, "127.0.0.1:"+port, "127.0.0.1:"+o.admin)
		o.Port = port
		harness.Get(t, o.URL("/"), harness.GPTBot)
		return o
	}
	first := run()
	list := first.reread("not_protecting open")
	if !list.Kept {
		t.Error("with storage on, acknowledgements are kept")
	}
	out, stderr, code := harness.Command(t, "", "robots-guard", "alerts", "--address", "127.0.0.1:"+first.admin, "--acknowledge", list.Alerts[0].ID, "--note", "there is none", "--by", "anna")
	if code != 0 || !strings.Contains(out, "acknowledged by anna: there is none") {
		t.Fatalf("%d %s%s", code, out, stderr)
	}
	first.Stop() // which writes what is pending
	stored, err := os.ReadFile(home + "/caddy/robots_guard/v1/" + id + "/alerts/acknowledged.json")
	if err != nil || !strings.Contains(string(stored), `"note":"there is none"`) {
		t.Errorf("%v: %s", err, stored)
	}

	second := run()
	if known := second.reread("not_protecting acknowledged").Alerts[0].Acknowledged; known.By != "anna" || known.Note != "there is none" {
		t.Errorf("%+v", known)
	}
	if stdout, stderr, code := harness.Command(t, "", "robots-guard", "alerts", "--address", "127.0.0.1:"+second.admin, "--undo", list.Alerts[0].ID); code != 0 {
		t.Errorf("%d %s%s", code, stdout, stderr)
	}
	second.reread("not_protecting open")
}
