package docs

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/robotsguard/caddy-robots-guard/caddymodule"
)

func init() {
	caddy.RegisterModule(execStandIn{})
}

// execStandIn takes the place of the module that docs/admin.md shows, with its
// syntax. It runs nothing.
type execStandIn struct {
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
}

// executed are the command lines that stand-ins would have run.
var executed struct {
	sync.Mutex
	lines []string
}

func (execStandIn) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.exec", New: func() caddy.Module { return new(execStandIn) }}
}

func (e *execStandIn) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if !d.NextArg() {
		return d.ArgErr()
	}
	e.Command, e.Args = d.Val(), d.RemainingArgs()
	return nil
}

func (e *execStandIn) Handle(ctx context.Context, _ caddy.Event) error {
	repl := ctx.Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	line := e.Command
	for _, arg := range e.Args {
		line += "|" + repl.ReplaceAll(arg, "")
	}
	executed.Lock()
	defer executed.Unlock()
	executed.lines = append(executed.lines, line)
	return nil
}

var _ caddyevents.Handler = (*execStandIn)(nil)

// TestEvents loads the configuration that docs/admin.md shows and looks
// at what its handlers get.
func TestEvents(t *testing.T) {
	text, err := os.ReadFile("admin.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), "```caddyfile\n{\n\tevents {")
	block, _, closed := strings.Cut("{\n\tevents {"+block, "```")
	if !ok || !closed {
		t.Fatal("docs/admin.md shows no events")
	}
	adapter := caddyconfig.GetAdapter("caddyfile")
	adaptTo := func(caddyfile string) []byte {
		t.Helper()
		config, _, err := adapter.Adapt([]byte(caddyfile), nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, caddyfile)
		}
		return config
	}
	adaptTo(block)

	dir, err := os.MkdirTemp("", "rg") // a short path: that of a socket may not be long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, robots := filepath.Join(dir, "s"), filepath.Join(dir, "robots.txt")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(robots, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("User-agent: *\nDisallow: /private/\n")
	host := fmt.Sprintf("run%d.example.com", time.Now().UnixNano()) // what tests before have told is not told again
	config := strings.NewReplacer(
		"{\n\tevents {", "{\n\tadmin off\n\tpersist_config off\n\trobots_guard {\n\t\tstorage off\n\t}\n\tlog {\n\t\toutput discard\n\t}\n\tevents {",
		"example.com {", "http://"+host+" {\n\tbind unix/"+socket,
		"robots_guard enforce", "robots_guard enforce {\n\t\tsource file "+robots+"\n\t\tfetch_timeout 20s\n\t\tfetch_wait 20s\n\t\tttl 1ms 1ms\n\t}",
		"reverse_proxy app:8080", "respond ok",
	).Replace(block)
	executed.lines = nil
	if err := caddy.Load(adaptTo(config), true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
	})
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	get := func(path string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("User-Agent", "bingbot/2.0")
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	for range 3 {
		if status := get("/private/x"); status != http.StatusForbidden {
			t.Fatalf("status %d, want 403", status)
		}
	}
	write("User-agent: *\nDisallow: /\n")
	want := map[string]bool{
		"logger|robots.txt: bingbot at " + host + ", line 2":                         true,
		"curl|-s|-d|" + host + " disallows /: true|https://hooks.example.com/robots": true,
	}
	var got []string
	for deadline := time.Now().Add(20 * time.Second); len(got) < len(want) && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		get("/private/x") // has the file read again
		executed.Lock()
		got = append([]string{}, executed.lines...)
		executed.Unlock()
	}
	for _, line := range got {
		if !want[line] {
			t.Errorf("executed %s", line)
		}
		delete(want, line)
	}
	if len(want) > 0 {
		t.Errorf("not executed: %v", want)
	}
}
