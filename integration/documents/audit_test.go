package documents

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/integration/harness/console"
)

// TestAuditDocument runs the commands of docs/audit.md with the files in that document.
// A code block after a line "`NAME`:" is a file.
func TestAuditDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := make(map[string]string)
	for _, m := range regexp.MustCompile("(?ms)^`([^`\n]+)`:\n\n```text\n(.*?)^```").FindAllStringSubmatch(string(text), -1) {
		shown[m[1]] = m[2]
	}
	dir := harness.Files(t, shown)
	ran := 0
	for _, step := range console.Steps(string(text)) {
		args, _, err := console.Words(step.Command)
		if err != nil || len(args) < 2 || args[0] != "caddy" {
			t.Errorf("docs/audit.md:%d: %v, %q", step.Line, err, args)
			continue
		}
		cmd := exec.Command(harness.Binary(t), args[1:]...)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput() // the exit status is part of the documented output only in some cases
		ran++
		if got := regexp.MustCompile(`"created":"[^"]*"`).ReplaceAllString(string(out), `"created":"2026-11-23T08:00:00Z"`); !console.Same(step.Output, got) {
			t.Errorf("docs/audit.md:%d: $ %s\n--- documented\n%s\n--- got\n%s", step.Line, step.Command, step.Output, got)
		}
	}
	if ran == 0 {
		t.Error("docs/audit.md contains no command")
	}
}
