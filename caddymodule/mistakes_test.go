package caddymodule

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// mistakes are wrong options in the block of robots_guard.
var mistakes = []string{
	"robots_guard enforc",
	"robots_guard enforce ai-training",
	"robots_guard {\n\t\texempt Googelbot\n\t}",
	"robots_guard {\n\t\tonly_log serach\n\t}",
	"robots_guard {\n\t\texempt Googlebot\n\t\tonly_log Googlebot\n\t}",
	"robots_guard {\n\t\texmpt archive\n\t}",
	"robots_guard {\n\t\tgrace 1h\n\t\tgrace 2h\n\t}",
	"robots_guard {\n\t\tttl 24h 1h\n\t}",
	"robots_guard {\n\t\tttl 0s 1s\n\t}",
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
	"robots_guard enforce monitor",
	"robots_guard {\n\t\texempt\n\t}",
	"@bots robots_crawler search\n\trobots_guard @bost enforce",
}

// misplaced are Caddyfiles with mistakes that the adapter finds after parsing.
var misplaced = []string{
	"example.com {\n\t@bots robots_crawler Googelbot ai_training\n\trespond @bots 403\n}\n",
	"{\n\trobots_guard {\n\t\tregistry /nonexistent/registry.json\n\t}\n}\nexample.com {\n\trobots_guard\n}\n",
	"{\n\trobots_guard {\n\t\tverify {\n\t\t\tranges configured\n\t\t}\n\t\tcrawler ShopBot {\n\t\t\tranges file /nonexistent/shopbot.txt\n\t\t}\n\t}\n}\nexample.com {\n\trobots_guard\n}\n",
	"example.com {\n\trobots_guard {\n\t\tsource file /nonexistent/robots.txt\n\t}\n}\n",
	"example.com {\n\trobots_guard\n\trobots_guard enforce\n}\n",
	"example.com {\n\troute {\n\t\trespond ok\n\t\trobots_guard\n\t}\n}\n",
	"example.com {\n\trobots_guard\n\trobots_guard_dashboard\n\trespond ok\n}\n",
}

const mistakesPage = "testdata/mistakes.txt"

// TestMistakes compares the error for each mistake with a golden file, so that a reader
// can review all errors of a Caddyfile in one place; -update writes the file.
func TestMistakes(t *testing.T) {
	var page strings.Builder
	page.WriteString("Errors of caddy validate for mistakes in a Caddyfile.\nWritten by: go test ./caddymodule -run TestMistakes -update\n")
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
		fmt.Fprintf(&page, "\n%d. %s\n\n%v\n", i+1, strings.Join(strings.Fields(mistake), " "), err)
	}
	page.WriteString("\nErrors of a whole site\n")
	for _, text := range misplaced {
		_, err := validate(t, text)
		if err == nil {
			t.Errorf("%s: it is accepted", text)
			continue
		}
		said := err.Error()
		_, said, _ = strings.Cut(said[max(0, strings.LastIndex(said, "provision ")):], ": ") // Caddy's prefix names the modules
		fmt.Fprintf(&page, "\n%s\n%s\n", text, said)
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
