package commands

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

func TestIdentifyStreams(t *testing.T) {
	t.Parallel()
	lines := 200_000
	if harness.Long() {
		lines = 5_000_000
	}
	printed, memory := stream(t, []string{"identify"}, lines,
		func(w *bufio.Writer, i int) {
			switch i % 3 {
			case 0:
				fmt.Fprintf(w, "Invented%dBot/1.0 (+http://x.example/)\n", i)
			case 1:
				_, _ = w.WriteString(harness.Firefox + "\n")
			default:
				_, _ = w.WriteString("\n")
			}
		},
		func(line []byte, i int) bool {
			if i%3 == 0 {
				return bytes.Equal(line, fmt.Appendf(nil, "Invented%dBot\tcrawler", i))
			}
			return string(line) == "-\tbrowser"
		})
	if printed != lines {
		t.Errorf("%d answers, want %d", printed, lines)
	}
	if memory > mostMemory {
		t.Errorf("used %d MiB", memory>>20)
	}
	t.Logf("%d MiB", memory>>20)
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	long := "GPTBot/1.0 " + strings.Repeat("x", 1<<20)
	runCommands(t, []commandCase{
		{name: "arguments", args: []string{"identify", harness.GPTBot, harness.Firefox, "", "-", harness.Curl},
			stdout: "GPTBot\tai_training\n-\tbrowser\n-\tbrowser\n-\tbrowser\ncurl\tlibrary\n"},
		{name: "standard input", args: []string{"identify"}, stdin: harness.GPTBot + "\n\n-\n" + harness.Curl + "\n",
			stdout: "GPTBot\tai_training\n-\tbrowser\n-\tbrowser\ncurl\tlibrary\n"},
		{name: "no line end", args: []string{"identify"}, stdin: harness.Curl, stdout: "curl\tlibrary\n"},
		{name: "nothing", args: []string{"identify"}},
		{name: "CRLF", args: []string{"identify"}, stdin: "bingbot/2.0\r\n\r\n-\r\ncurl/8\r\n",
			stdout: "bingbot\tsearch\n-\tbrowser\n-\tbrowser\ncurl\tlibrary\n"},
		{name: "binary", args: []string{"identify"}, stdin: "\x00\xff\n\x80\n\x1b[31m\nMozilla/5.0 \xff\xfe(compatible; \xe4\xb8\xadBot/1.0)\ncurl/\x00\n",
			stdout: "-\tbrowser\n-\tbrowser\n31m\tother\nBot\tcrawler\ncurl\tlibrary\n"},
		{name: "long line", args: []string{"identify"}, stdin: long + "\n" + harness.Curl + "\n", stdout: "GPTBot\tai_training\ncurl\tlibrary\n"},
		{name: "only a long line", args: []string{"identify"}, stdin: long, stdout: "GPTBot\tai_training\n"},
		{name: "unknown flag", args: []string{"identify", "--jason"}, code: 2, stderr: "--jason"},
	})
}

func TestIdentifyJSON(t *testing.T) {
	t.Parallel()
	stdout, stderr, code := harness.Command(t, harness.GPTBot+"\n\n"+harness.FooBot+"\n\xff\"\n", "robots-guard", "identify", "--json")
	if code != 0 {
		t.Fatalf("exit status %d, %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines, want 4:\n%s", len(lines), stdout)
	}
	var got []map[string]any
	for _, line := range lines {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		got = append(got, fields)
	}
	for i, want := range []map[string]any{
		{"user_agent": harness.GPTBot, "token": "GPTBot", "name": "GPTBot", "class": "ai_training", "evidence": "registry", "wildcard": true},
		{"token": "", "class": "browser", "evidence": "none", "wildcard": false},
		{"token": "FooBarBot", "class": "crawler", "wildcard": true, "registry": nil},
		{"token": "", "class": "browser"},
	} {
		for name, value := range want {
			if got[i][name] != value {
				t.Errorf("line %d: %s is %v, want %v", i+1, name, got[i][name], value)
			}
		}
	}
	if registry, _ := got[0]["registry"].(map[string]any); registry["operator"] != "OpenAI" {
		t.Errorf("the registry's entry is %v", got[0]["registry"])
	}
}
