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
	runPieces(t, []pieces{
		{name: "a search engine", args: []string{"diff", old, edited}, code: 1, stdout: []string{
			"1 rule added, 0 removed\n\nsearch: bingbot", "  group: bingbot, before *\n", "    /shop/  by Disallow: /shop/ (line 15)\n", "may fetch now"}},
		{name: "back", args: []string{"diff", "--fail-on", "search-block", edited, old}, code: 1, stdout: []string{"/private/  by Disallow: /private/ (line 2)"}},
		{name: "nothing", args: []string{"diff", "--fail-on", "change", old, old}, code: 0, stdout: []string{"No verdict is found to change.\n"}},
		{name: "an assistant only", args: []string{"diff", old, "-"}, stdin: checked + "\nUser-agent: CCBot\nDisallow: /\n", code: 0, stdout: []string{"ai_training: CCBot"}},
		{name: "any block", args: []string{"diff", "--fail-on", "any-block", old, "-"}, stdin: checked + "\nUser-agent: CCBot\nDisallow: /\n", code: 1, stdout: []string{"ai_training: CCBot"}},
		{name: "json", args: []string{"diff", "--json", "--fail-on", "never", old, edited}, code: 0, stdout: []string{`"old_group": "*"`, `"url": "/shop/"`}},
		{name: "flags about logs without one", args: []string{"diff", "--since", "1d", old, edited}, code: 2, stderr: []string{"name one with --log"}},
		{name: "one file", args: []string{"diff", old}, code: 2, stderr: []string{"give two files"}},
		{name: "twice standard input", args: []string{"diff", "-", "-"}, code: 2, stderr: []string{"only one of the two"}},
		{name: "an unknown condition", args: []string{"diff", "--fail-on", "x", old, old}, code: 2, stderr: []string{"search-block, any-block, change or never"}},
		{name: "no such file", args: []string{"diff", "/no/such/file", old}, code: 2, stderr: []string{"/no/such/file"}},
	})
}

// TestDiffLog replays logs that nginx, Apache and Caddy wrote: what is counted is
// what changed for real requests.
func TestDiffLog(t *testing.T) {
	t.Parallel()
	servers := filepath.Join("..", "..", "internal", "replay", "logformat", "testdata")
	nginx, apache, caddy := filepath.Join(servers, "nginx-combined.log"), filepath.Join(servers, "apache-vhost.log"), filepath.Join(servers, "caddy.log")
	const private = "User-agent: *\nDisallow: /private/\n"
	dir := harness.Files(t, map[string]string{
		"old.txt": private, "blog.txt": private + "Disallow: /blog/\n", "open.txt": "User-agent: *\nDisallow:\n",
		"gpt.txt": private + "\nUser-agent: Googlebot\nDisallow:\n", "empty.log": "",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	old := at("old.txt")
	runPieces(t, []pieces{
		{name: "real requests are blocked", args: []string{"diff", at("open.txt"), old, "--log", nginx}, code: 1, stdout: []string{
			"39 lines from 2026-11-21T15:36:53Z", "The edit blocks 26 and opens 0 of them.\n",
			"CRAWLER    CLASS        REQUESTS  BLOCKED  OPENED\nGooglebot  search       22        20       0\nGPTBot     ai_training  7         6        0\n",
			"blocked  no rule  Disallow: /private/ (line 2)  26        Googlebot 20, GPTBot 6\n", "//private//x"}},
		{name: "no real request is, though rules come", args: []string{"diff", old, at("blog.txt"), "--log", nginx}, code: 0, stdout: []string{
			"    /blog/  by Disallow: /blog/ (line 3)\n", "The edit blocks 0 and opens 0 of them.\n"}},
		{name: "requests are opened", args: []string{"diff", "--fail-on", "any-block", old, at("gpt.txt"), "--log", nginx}, code: 0, stdout: []string{
			"opens 20 of them", "opened  Disallow: /private/ (line 2)  no rule  20        Googlebot 20\n"}},
		{name: "a change", args: []string{"diff", "--fail-on", "change", old, at("gpt.txt"), "--log", nginx}, code: 1, stdout: []string{"opens 20"}},
		{name: "another class only", args: []string{"diff", at("open.txt"), "-", "--log", nginx}, stdin: "User-agent: GPTBot\nDisallow: /\n", code: 0, stdout: []string{"blocks 6"}},
		{name: "any class", args: []string{"diff", "--fail-on", "any-block", at("open.txt"), "-", "--log", nginx}, stdin: "User-agent: GPTBot\nDisallow: /\n", code: 1},
		{name: "several logs and formats", args: []string{"diff", at("open.txt"), old, "--log", nginx, apache, caddy}, code: 1, stdout: []string{
			"combined", "vhost_combined", "caddy "}},
		{name: "a site", args: []string{"diff", at("open.txt"), old, "--site", "other.example", "--log", caddy, "--json"}, code: 1, stdout: []string{
			`"sites": [`, `"blocked": 1,`, `"path": "/private/otherhost"`}},
		{name: "a time without requests leaves it to the files", args: []string{"diff", "--until", "2026-11-20", at("open.txt"), old, "--log", nginx}, code: 1, stdout: []string{"blocks 0 and"}},
		{name: "an empty log, too", args: []string{"diff", at("open.txt"), old, "--log", at("empty.log")}, code: 1, stdout: []string{"empty.log is empty."}},
		{name: "a format", args: []string{"diff", at("open.txt"), old, "--log", "-", "--format", "$request_uri $http_user_agent"}, stdin: "/private/a GPTBot/1.2\n", code: 0, stdout: []string{"GPTBot", "blocks 1"}},
		{name: "no such log", args: []string{"diff", old, old, "--log", at("no.log")}, code: 2, stderr: []string{"no.log does not exist"}},
		{name: "a log as a third file", args: []string{"diff", old, old, nginx}, code: 2, stderr: []string{"give two files"}},
		{name: "one standard input", args: []string{"diff", old, "-", "--log", "-"}, code: 2, stderr: []string{"only one of the files and logs"}},
	})
}
