package commands

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestMistakes checks that typical mistakes of new users produce one line that says
// what to do, with exit status 2 and no standard output.
func TestMistakes(t *testing.T) {
	t.Parallel()
	dir := harness.Files(t, map[string]string{
		"robots.txt": checked, "cases.txt": "GPTBot / disallow\n",
		"Caddyfile":       "a.example {\n\trobots_guard enforce\n}\n",
		"plain.Caddyfile": "a.example {\n\trespond ok\n}\n",
		"wrong.Caddyfile": "a.example {\n\trobots_gard enforce\n}\n",
		"empty.json":      "{}", "broken.json": "{", "Caddyfile.json": "a.example {\n}\n",
	})
	in := func(name string) string { return filepath.Join(dir, name) }
	robots := in("robots.txt")
	missing := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		http.NotFound(w, r)
		return true
	})
	slow := harness.NewOrigin(t, "", func(_ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	})
	explain := func(config string) []string {
		return []string{"explain", "--config", in(config), "--robots", robots, "--user-agent", "GPTBot/1.3", "/"}
	}
	runCommands(t, []commandCase{
		{name: "a command", args: []string{"aduit"}, code: 2, stderr: `unknown command "aduit"; did you mean audit?`},
		{name: "a flag", args: []string{"lint", "--formt", "json"}, code: 2, stderr: "unknown flag: --formt; see caddy robots-guard lint --help"},
		{name: "a flag without its value", args: []string{"explain", "--brief", "--robots"}, code: 2, stderr: "flag needs an argument: --robots; see caddy robots-guard explain --help"},
		{name: "two sites at once", args: []string{"status", "a.example", "b.example"}, code: 2, stderr: "takes at most 1 argument"},
		{name: "a configuration that is not there", args: explain("Cadyfile"), code: 2, stderr: "file " + in("Cadyfile") + " not found"},
		{name: "a configuration that is a directory", args: explain(""), code: 2, stderr: "is a directory; --config takes the file in it"},
		{name: "a configuration without robots_guard", args: explain("plain.Caddyfile"), code: 2, stderr: "no site has the directive robots_guard; add the directive, or leave out --config"},
		{name: "a configuration with a mistake", args: explain("wrong.Caddyfile"), code: 2, stderr: "wrong.Caddyfile:2: unrecognized directive: robots_gard"},
		{name: "JSON without robots_guard", args: explain("empty.json"), code: 2, stderr: "no site has the directive robots_guard"},
		{name: "broken JSON", args: explain("broken.json"), code: 2, stderr: "not valid JSON"},
		{name: "a Caddyfile called JSON", args: explain("Caddyfile.json"), code: 2, stderr: "did you mean to use a config adapter"},
		{name: "the same for identify", args: []string{"identify", "--ip", "192.0.2.1", "--config", in("Cadyfile"), "GPTBot"}, code: 2, stderr: "not found; --config takes"},
		{name: "the same for status", args: []string{"status", "--config", in("Cadyfile")}, code: 2, stderr: "not found; --config takes"},
		{name: "a server that does not run", args: []string{"status", "--address", "127.0.0.1:1"}, code: 2,
			stderr: "no server responds at 127.0.0.1:1: connection refused: nothing listens at that address (dial tcp 127.0.0.1:1: connect: connection refused); start it, or give the address of the admin API"},
		{name: "a server that is no Caddy", args: []string{"status", "--address", missing.Address()}, code: 2, stderr: "is not a Caddy with robots_guard in its configuration"},
		{name: "a site that never answers", args: []string{"explain", "--brief", "--token", "GPTBot", slow.URL + "/x"}, code: 2, stderr: "cannot read " + slow.URL + "/robots.txt"},
		{name: "no table", args: []string{"test", "--robots", robots}, code: 2, stderr: "no table of cases given"},
		{name: "a robots.txt as a table", args: []string{"test", "--robots", robots, robots}, code: 2, stderr: "robots.txt:1: 2 fields instead of three"},
		{name: "no log", args: []string{"audit", "--robots", robots}, code: 2, stderr: "no log given"},
		{name: "a log that is not there", args: []string{"audit", "--robots", robots, in("acces.log")}, code: 2, stderr: "acces.log does not exist"},
		{name: "one file to compare", args: []string{"diff", robots}, code: 2, stderr: "give two files"},
	})
}
