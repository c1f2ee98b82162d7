package documents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/integration/harness/console"
)

// TestGuides runs the commands in the ```console blocks of README.md, the guides and
// docs/preferences.md, and compares their output with the documented output. A line
// that begins with "$ " is a command. A backslash at the end of a line continues the
// command on the next line. The lines up to the next command are its output.
//
// Commands are
//
//	curl [-s] [-i] [-I] [-A <ua>] [-H <field>] [-X <method>] [-o /dev/null] [-w '%{http_code}\n'] <url>
//	caddy robots-guard ..., caddy validate ..., caddy list-modules
//	cp <file> <file>
//
// The first two may end in "| grep [-E] <regexp>". The test skips other commands, such
// as the command that starts the demo. Commands run in a folder with the files of the
// guide. A code block after a line "`NAME`:" is a file. Without such a block the folder
// contains a robots.txt that disallows /private/.
//
// A guide with a Caddyfile has its own server (see [guide.serve]). Its URLs use
// example.com, its subdomains, and the admin API on localhost:2019. All other guides
// use the demo on localhost:8080.
//
// A line "..." in the output matches any lines. The comparison ignores values that
// differ between runs: the date, the time in a line "read:", and the length.
func TestGuides(t *testing.T) {
	t.Parallel()
	s, _ := example(t, "Caddyfile.example", "8080")
	// A reader also waits between the start and the first request.
	local := "http://localhost:" + s.Port
	harness.Eventually(t, "the demo has read its robots.txt", func() bool { return harness.Get(t, local+"/", harness.GPTBot).Status == 403 })

	guides, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil || len(guides) == 0 {
		t.Fatalf("no guides: %v", err)
	}
	for _, path := range append(guides, "../../README.md", "../../docs/preferences.md") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			g := &guide{name: filepath.Base(path), text: string(text), port: s.Port, show: strings.NewReplacer(":"+s.Port, ":8080")}
			files := shownFiles(g.text)
			if files["robots.txt"] == "" {
				files["robots.txt"] = "User-agent: *\nDisallow: /private/\n"
			}
			g.dir = harness.Files(t, files)
			if files["Caddyfile"] != "" {
				t.Parallel() // these commands do not use the demo
				g.serve(t, files["Caddyfile"])
			}
			g.run(t)
		})
	}
}

// guide is a document whose commands are run.
type guide struct {
	name, text string
	dir        string            // folder with its files
	port       string            // of the server
	admin      string            // address of the admin API, "" for none
	show       *strings.Replacer // converts the actual output to the documented form
	unsettled  time.Time         // until then the guard may use an old robots.txt, and the first output may be late
}

// run runs the commands of the guide.
func (g *guide) run(t *testing.T) {
	for _, step := range console.Steps(g.text) {
		got, ran, err := g.do(t, step.Command)
		for ran && err == nil && !console.Same(step.Output, got) && time.Now().Before(g.unsettled) {
			time.Sleep(50 * time.Millisecond)
			got, ran, err = g.do(t, step.Command)
		}
		switch {
		case err != nil:
			t.Errorf("%s:%d: %v", g.name, step.Line, err)
		case ran && !console.Same(step.Output, got):
			t.Errorf("%s:%d: $ %s\n--- documented\n%s\n--- got\n%s", g.name, step.Line, step.Command, step.Output, got)
		}
		if step.Output != "" {
			g.unsettled = time.Time{}
		}
	}
}

// settling is the time after which the guard has refetched a changed robots.txt. The
// guard waits at least ten seconds between two fetches.
const settling = 20 * time.Second

// do runs a command and returns its output. It does not run commands that TestGuides
// does not list.
func (g *guide) do(t *testing.T, command string) (got string, ran bool, err error) {
	args, pattern, err := console.Words(command)
	if err != nil {
		return "", false, err
	}
	switch {
	case args[0] == "curl":
		got, err = g.curl(args[1:])
	case len(args) > 1 && args[0] == "caddy" && (args[1] == "robots-guard" || args[1] == "validate" || args[1] == "list-modules"):
		if len(args) > 2 && args[2] == "status" && g.admin != "" {
			args = append(args, "--address", g.admin)
		}
		cmd := exec.Command(harness.Binary(t), args[1:]...)
		cmd.Dir = g.dir
		out, _ := cmd.CombinedOutput() // the exit status is part of the documented output only in some cases
		got = string(out)
	case len(args) == 3 && args[0] == "cp":
		text, err := os.ReadFile(filepath.Join(g.dir, args[1]))
		if err != nil {
			return "", false, err
		}
		harness.Write(t, filepath.Join(g.dir, args[2]), string(text))
		g.unsettled = time.Now().Add(settling)
		return "", true, nil
	default:
		return "", false, nil
	}
	if pattern != nil {
		var kept strings.Builder
		for line := range strings.Lines(got) {
			if pattern.MatchString(strings.TrimRight(line, "\r\n")) {
				kept.WriteString(line)
			}
		}
		got = kept.String()
	}
	return g.show.Replace(got), true, err
}

// curl sends a request to the server or its admin API.
func (g *guide) curl(args []string) (string, error) {
	if last := len(args) - 1; last >= 0 && g.admin != "" && strings.Contains(args[last], "localhost:2019/") {
		_, port, _ := strings.Cut(g.admin, ":")
		return console.Curl(port, append(args[:last:last], strings.Replace(args[last], ":2019/", ":8080/", 1)))
	}
	return console.Curl(g.port, args)
}
