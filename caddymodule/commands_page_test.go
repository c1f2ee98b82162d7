package caddymodule

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

// TestCommandsPage compares docs/commands.md with the help of the commands.
func TestCommandsPage(t *testing.T) {
	path := filepath.Join("..", "docs", "commands.md")
	page := commandsPage(t)
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(have), "\r\n", "\n") != page {
		t.Errorf("docs/commands.md is outdated; run\n\tgo test ./caddymodule -run TestCommandsPage -update")
	}
}

// commandsPage writes the page.
func commandsPage(t *testing.T) string {
	t.Helper()
	root := &cobra.Command{Use: "robots-guard"}
	registered := caddycmd.Commands()["robots-guard"]
	registered.CobraFunc(root)
	var b strings.Builder
	b.WriteString("# Commands\n\n" +
		"<!-- Made by: go test ./caddymodule -run TestCommandsPage -update -->\n\n" +
		"All commands begin with `caddy robots-guard`, and judge with the same code as the server.\n" +
		"`caddy robots-guard <command> --help` lists all options of a command. `caddy completion --help`\n" +
		"describes shell completion.\n\n" +
		"Standard output has only the result. Errors (`error: ...`) and warnings about the configuration\n" +
		"(`warning: ...`) are on standard error. The exit status after an error is 2. The exit status 1 is a\n" +
		"result, for example that a URL is disallowed.\n\n")
	commands := slices.DeleteFunc(root.Commands(), func(cmd *cobra.Command) bool { return cmd.Hidden })
	for _, cmd := range commands {
		fmt.Fprintf(&b, "- [%s](#%s): %s\n", cmd.Name(), cmd.Name(), cmd.Short)
	}
	for _, cmd := range commands {
		fmt.Fprintf(&b, "\n## %s\n\n```text\ncaddy robots-guard %s\n```\n\n%s\n\n", cmd.Name(), cmd.Use, markdown(cmd.Long))
		if cmd.Example == "" || cmd.Long == "" || cmd.Short == "" {
			t.Errorf("%s has no help or no example", cmd.Name())
		}
		fmt.Fprintf(&b, "Examples:\n\n```sh\n%s\n```\n", strings.TrimSpace(cmd.Example))
	}
	return b.String()
}

// markdown converts a help text to Markdown. Indented lines become a code block, and markup
// characters are escaped.
func markdown(text string) string {
	var paragraphs []string
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(paragraph, "\t") {
			paragraph = "```text\n" + strings.ReplaceAll(paragraph[1:], "\n\t", "\n") + "\n```"
		} else {
			paragraph = strings.NewReplacer("*", `\*`, "<", `\<`, "_", `\_`).Replace(paragraph)
		}
		paragraphs = append(paragraphs, paragraph)
	}
	return strings.Join(paragraphs, "\n\n")
}
