package command

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReportsOfAbuse writes abuse reports from a log and verifies them, and checks the errors.
func TestReportsOfAbuse(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	robots := write("robots.txt", "User-agent: *\nDisallow: /private/\n")
	log := write("access.log", `203.0.113.7 - - [21/Nov/2026:09:00:01 +0000] "GET /private/x HTTP/1.1" 200 84 "-" "New/Bot <1>"`+"\n"+
		`203.0.113.7 - - [21/Nov/2026:09:00:02 +0000] "GET /private/y HTTP/1.1" 200 84 "-" "NewBot/1.0"`+"\n")
	reports := filepath.Join(dir, "reports")
	const reporter = "Example Ltd <abuse@example.com>"
	audit := []string{"audit", "--robots", robots, "--xarf", reports, "--reporter", reporter, log}
	out, err := execute(t.Context(), configured(Site{}), audit...)
	if !errors.Is(err, ErrFindings) || !strings.Contains(out, "Reports of abuse in "+reports+": ") {
		t.Fatalf("%v %s", err, out)
	}
	files, err := os.ReadDir(reports)
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v", files, err)
	}
	for _, file := range files {
		out, err = execute(t.Context(), configured(Site{}), "audit", "--verify-report", filepath.Join(reports, file.Name()))
		if err != nil || !strings.Contains(out, "samples:    1 of 1 are disallowed") {
			t.Errorf("%v %s", err, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(reports, files[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	wrong := write("wrong.json", strings.Replace(string(text), "sha256:", "sha256:0", 1))
	for _, tc := range []struct {
		args []string
		want string
	}{
		{audit, "exists already; use a new directory for each audit"},
		{[]string{"audit", "--robots", robots, "--xarf", reports + "2", "--reporter", "abuse@example.com", log}, "is not a name with an email address"},
		{[]string{"audit", "--robots", robots, "--xarf", reports + "2", log}, "reporter"},
		{[]string{"audit", "--verify-report", wrong, log}, "reads no log"},
		{[]string{"audit", "--verify-report", wrong, "--robots", robots}, "--robots and --verify-report cannot be used together"},
		{[]string{"audit", "--verify-report", wrong, "--json"}, "--json and --verify-report cannot be used together"},
		{[]string{"audit", "--verify-report", wrong}, "does not match its stated hash"},
		{[]string{"audit", "--verify-report", robots}, "this is not a report in JSON"},
		{[]string{"audit", "--verify-report", filepath.Join(dir, "missing")}, " not found; check the name"},
	} {
		if _, err := execute(t.Context(), configured(Site{}), tc.args...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: %v, want %q", tc.args, err, tc.want)
		}
	}
}
