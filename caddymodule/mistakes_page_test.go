package caddymodule

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// mistakes are what owners write in the block of robots_guard.
var mistakes = []string{
	"robots_guard enforc",
	"robots_guard enforce ai-training",
	"robots_guard {\n\t\texempt Googelbot\n\t}",
	"robots_guard {\n\t\tonly_log serach\n\t}",
	"robots_guard {\n\t\texempt Googlebot\n\t\tonly_log Googlebot\n\t}",
	"robots_guard {\n\t\texmpt archive\n\t}",
	"robots_guard {\n\t\tgrace 1h\n\t\tgrace 2h\n\t}",
	"robots_guard {\n\t\tttl 24h 1h\n\t}",
	"robots_guard {\n\t\tgrace 1hour\n\t}",
	"robots_guard {\n\t\tstatus 200\n\t}",
	"robots_guard {\n\t\twildcard ai_traning\n\t}",
	"robots_guard {\n\t\tsource fiel robots.txt\n\t}",
	"robots_guard {\n\t\tsource file\n\t}",
	"robots_guard {\n\t\tsource ftp://example.com/robots.txt\n\t}",
	"robots_guard {\n\t\tunreachable dissallow\n\t}",
	"robots_guard {\n\t\tspoofed blok\n\t}",
	"robots_guard {\n\t\tmerge_slashes no\n\t}",
	"robots_guard {\n\t\tchange_guard 6\n\t}",
	"robots_gard enforce",
	"robots_guard {\n\t\texempt\n\t}",
}

const mistakesPage = "../docs/guides/mistakes.md"

// TestMistakesPage has the page say what each mistake is answered with; -update
// writes it.
func TestMistakesPage(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Twenty mistakes\n\n<!-- Made by: go test ./caddymodule -run TestMistakesPage -update -->\n\n" +
		"What `caddy validate` and a reload say to a mistake in a Caddyfile, which then is not loaded.\n")
	for i, mistake := range mistakes {
		text := "example.com {\n\t" + mistake + "\n\trespond ok\n}\n"
		_, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text), map[string]any{"filename": "Caddyfile"})
		if err == nil {
			t.Errorf("%s: it is accepted", mistake)
			continue
		}
		if !strings.Contains(err.Error(), "Caddyfile:") {
			t.Errorf("%s: the error does not say where: %v", mistake, err)
		}
		fmt.Fprintf(&page, "\n%d. `%s`\n\n```text\n%v\n```\n", i+1, strings.Join(strings.Fields(mistake), " "), err)
	}
	if *update {
		if err := os.WriteFile(mistakesPage, []byte(page.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if written, err := os.ReadFile(mistakesPage); err != nil || string(written) != page.String() {
		t.Errorf("%s is not what the mistakes are answered with (%v); write it with -update", mistakesPage, err)
	}
}
