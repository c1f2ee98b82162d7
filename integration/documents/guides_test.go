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

// TestGuides runs the commands that README.md, the guides and docs/preferences.md show in ```console
// blocks and compares what comes out with what they show. A line that begins
// with "$ " is a command, continued on the next line by a backslash at its end;
// the lines up to the next command are its output.
//
// Commands are
//
//	curl [-s] [-i] [-I] [-A <ua>] [-H <field>] [-X <method>] [-o /dev/null] [-w '%{http_code}\n'] <url>
//	caddy robots-guard ..., caddy validate ..., caddy list-modules
//	cp <file> <file>
//
// and the first two may end in "| grep [-E] <regexp>". Other commands, such as the one
// that starts the demo, are left out. They run in a folder with the files that
// the guide shows, each after a line "`NAME`:", or else with a robots.txt that
// keeps everybody from /private/.
//
// A guide that shows a Caddyfile has a server of its own, see [serveGuide]: URLs
// are those of example.com, its subdomains, and the admin API on localhost:2019.
// All others are for the demo on localhost:8080.
//
// A line "..." in the output stands for any lines. What differs each time is not
// compared: the date, the time in a line "read:", and the length.
func TestGuides(t *testing.T) {
	s, _ := example(t, "Caddyfile.example", "8080")
	// The reader needs some time between starting and the first request.
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
				g.serve(t, files["Caddyfile"])
			}
			g.run(t)
		})
	}
}

// guide is a document whose commands are run.
type guide struct {
	name, text string
	dir        string            // where its files are
	port       string            // of the server
	admin      string            // the address of its admin API, if it has one
	show       *strings.Replacer // turns what comes out into what is shown
	unsettled  time.Time         // until when the server may not know the robots.txt yet, and what is seen first may come late
}

// run runs the commands.
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
			t.Errorf("%s:%d: $ %s\n--- it shows\n%s\n--- it is\n%s", g.name, step.Line, step.Command, step.Output, got)
		}
		if step.Output != "" {
			g.unsettled = time.Time{}
		}
	}
}

// settling is how long a server may take to read a robots.txt that was changed:
// it does so ten seconds after the last time at the earliest.
const settling = 20 * time.Second

// do runs a command and returns what it prints. Other commands than those that
// TestGuides knows are not run.
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
		out, _ := cmd.CombinedOutput() // the exit status is part of what is shown, or not
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

// curl asks the server, or its admin API.
func (g *guide) curl(args []string) (string, error) {
	if last := len(args) - 1; last >= 0 && g.admin != "" && strings.Contains(args[last], "localhost:2019/") {
		_, port, _ := strings.Cut(g.admin, ":")
		return console.Curl(port, append(args[:last:last], strings.Replace(args[last], ":2019/", ":8080/", 1)))
	}
	return console.Curl(g.port, args)
}
