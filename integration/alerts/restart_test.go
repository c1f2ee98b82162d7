package alerts

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestAcknowledgedOverARestart checks that the storage keeps acknowledgements from the
// command line, and the messages that webhooks have received.
func TestAcknowledgedOverARestart(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const id = "5c9d0e4e-3b1c-4d39-9a0e-6d3f6a4b8f10"
	harness.NameInstance(t, home, id)
	told := make(chan struct{}, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { told <- struct{}{} }))
	t.Cleanup(receiver.Close)
	run := func() *owned {
		o := &owned{t: t, admin: harness.FreePort(t)}
		port := harness.FreePort(t)
		text := strings.NewReplacer("$ADMIN", o.admin, "$PORT", port, "$RECEIVER", receiver.URL).Replace(`{
			admin 127.0.0.1:$ADMIN
			persist_config off
			robots_guard {
				storage on
				notify $RECEIVER/secret {
					wait 1s
				}
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
	if !list.IsPersistent {
		t.Error("with storage on, acknowledgements are kept")
	}
	<-told
	receiver.Close() // no more messages
	out, stderr, code := harness.Command(t, "", "robots-guard", "status", "--address", "127.0.0.1:"+first.admin, "--acknowledge", list.Alerts[0].ID, "--note", "there is none")
	if code != 0 || !strings.Contains(out, ": there is none\n") {
		t.Fatalf("%d %s%s", code, out, stderr)
	}
	first.Stop() // stores pending data
	kept := func(name, piece string) {
		t.Helper()
		stored, err := os.ReadFile(home + "/caddy/robots_guard/v1/" + id + "/notes/" + name)
		if err != nil || !strings.Contains(string(stored), piece) || strings.Contains(string(stored), "secret") {
			t.Errorf("%v: %s lacks %s", err, stored, piece)
		}
	}
	sentID := `"id":"` + list.Alerts[0].ID + `"`
	kept("acknowledged.json", `"note":"there is none"`)
	kept("sent.json", sentID)

	second := run()
	if known := second.reread("not_protecting acknowledged").Alerts[0].Acknowledged; known.Note != "there is none" {
		t.Errorf("%+v", known)
	}
	if stdout, stderr, code := harness.Command(t, "", "robots-guard", "status", "--address", "127.0.0.1:"+second.admin, "--undo", list.Alerts[0].ID); code != 0 {
		t.Errorf("%d %s%s", code, stdout, stderr)
	}
	second.reread("not_protecting open")
	second.Stop()
	kept("sent.json", sentID)
}
