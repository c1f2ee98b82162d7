package commands

import (
	"path/filepath"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	dir := harness.Files(t, map[string]string{"old.txt": checked, "new.txt": checked + "\nUser-agent: bingbot\nDisallow: /shop/\n"})
	old, edited := filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt")
	runCommands(t, []commandCase{
		{name: "a search engine", args: []string{"diff", old, edited}, code: 1, parts: []string{
			"1 rule added, 0 removed\n\nsearch: bingbot", "  group: bingbot, before *\n", "    /shop/  by Disallow: /shop/ (line 15)\n", "may fetch now"}},
		{name: "back", args: []string{"diff", "--fail-on", "search-block", edited, old}, code: 1, parts: []string{"/private/  by Disallow: /private/ (line 2)"}},
		{name: "nothing", args: []string{"diff", "--fail-on", "change", old, old}, code: 0, parts: []string{"No changed verdict was found.\n"}},
		{name: "an assistant only", args: []string{"diff", old, "-"}, stdin: checked + "\nUser-agent: CCBot\nDisallow: /\n", code: 0, parts: []string{"ai_training: CCBot"}},
		{name: "any block", args: []string{"diff", "--fail-on", "any-block", old, "-"}, stdin: checked + "\nUser-agent: CCBot\nDisallow: /\n", code: 1, parts: []string{"ai_training: CCBot"}},
		{name: "json", args: []string{"diff", "--json", "--fail-on", "never", old, edited}, code: 0, parts: []string{`"old_group": "*"`, `"url": "/shop/"`}},
		{name: "one file", args: []string{"diff", old}, code: 2, stderr: "give two files"},
		{name: "twice standard input", args: []string{"diff", "-", "-"}, code: 2, stderr: "only one of the two"},
		{name: "an unknown condition", args: []string{"diff", "--fail-on", "x", old, old}, code: 2, stderr: "search-block, any-block, change or never"},
		{name: "no such file", args: []string{"diff", "/no/such/file", old}, code: 2, stderr: "/no/such/file"},
	})
}
