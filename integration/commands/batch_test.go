package commands

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// result is a response of explain --batch.
type result struct {
	ID        any    `json:"id"`
	Allowed   bool   `json:"allowed"`
	Verdict   string `json:"verdict"`
	Rule      string `json:"rule"`
	Line      int    `json:"line"`
	Group     string `json:"group"`
	Ambiguous bool   `json:"ambiguous"`
	Error     string `json:"error"`
}

func TestCheckBatch(t *testing.T) {
	t.Parallel()
	const robots = "User-agent: *\nDisallow: /private\nDisallow: /?q\n\nUser-agent: GPTBot\nDisallow: /gpt\n"
	type request map[string]any
	for _, tc := range []struct {
		name    string
		request request
		want    result
	}{
		{"token in the * group", request{"id": 1, "robots": robots, "token": "Foo", "url": "/private"}, result{ID: 1.0, Verdict: "disallowed", Rule: "Disallow: /private", Line: 2, Group: "*"}},
		{"token of a group", request{"id": "a", "robots": robots, "token": "gptbot", "url": "/private"}, result{ID: "a", Allowed: true, Verdict: "allowed", Group: "GPTBot"}},
		{"token of a group, disallowed", request{"id": nil, "robots": robots, "token": "gptbot", "url": "/gpt"}, result{Verdict: "disallowed", Rule: "Disallow: /gpt", Line: 6, Group: "GPTBot"}},
		{"no client", request{"robots": robots, "url": "/private"}, result{Verdict: "disallowed", Rule: "Disallow: /private", Line: 2, Group: "*"}},
		{"empty token", request{"robots": robots, "token": "", "url": "/private"}, result{Verdict: "disallowed", Rule: "Disallow: /private", Line: 2, Group: "*"}},
		{"token *", request{"robots": robots, "token": "*", "url": "/private"}, result{Verdict: "disallowed", Rule: "Disallow: /private", Line: 2, Group: "*"}},
		{"User-Agent", request{"robots": robots, "user_agent": harness.GPTBot, "url": "/gpt"}, result{Verdict: "disallowed", Rule: "Disallow: /gpt", Line: 6, Group: "GPTBot"}},
		{"browser", request{"robots": robots, "user_agent": harness.Firefox, "url": "/private"}, result{Allowed: true, Verdict: "exempt"}},
		{"library", request{"robots": robots, "user_agent": harness.Curl, "url": "/private"}, result{Allowed: true, Verdict: "exempt"}},
		{"empty User-Agent", request{"robots": robots, "user_agent": "", "url": "/private"}, result{Allowed: true, Verdict: "exempt"}},
		{"AdsBot as a token obeys *", request{"robots": robots, "token": "AdsBot-Google", "url": "/private"}, result{Verdict: "disallowed", Rule: "Disallow: /private", Line: 2, Group: "*"}},
		{"AdsBot as a User-Agent does not", request{"robots": robots, "user_agent": harness.AdsBot, "url": "/private"}, result{Allowed: true, Verdict: "exempt"}},
		{"base64", request{"robots_b64": base64.StdEncoding.EncodeToString([]byte("user-agent: *\r\ndisallow: /\xff\x00\n")), "url": "/%ff"}, result{Verdict: "disallowed", Rule: "Disallow: /\ufffd", Line: 2, Group: "*"}},
		{"empty base64", request{"robots_b64": "", "url": "/x"}, result{Allowed: true, Verdict: "allowed"}},
		{"no robots", request{"url": "/x", "token": "x"}, result{Allowed: true, Verdict: "allowed"}},
		{"empty URL", request{"robots": "user-agent: *\ndisallow: /$", "url": ""}, result{Verdict: "disallowed", Rule: "Disallow: /$", Line: 2, Group: "*"}},
		{"no URL", request{"robots": "user-agent: *\ndisallow: /$"}, result{Verdict: "disallowed", Rule: "Disallow: /$", Line: 2, Group: "*"}},
		{"URL without a path", request{"robots": robots, "url": "http://h?q"}, result{Verdict: "disallowed", Rule: "Disallow: /?q", Line: 3, Group: "*"}},
		{"URL without a scheme", request{"robots": robots, "url": "bob/private"}, result{Verdict: "disallowed", Rule: "Disallow: /private", Line: 2, Group: "*"}},
		{"host only", request{"robots": robots, "url": "http://private"}, result{Allowed: true, Verdict: "allowed", Group: "*"}},
		{"fragment", request{"robots": "user-agent: *\ndisallow: /a$", "url": "http://h/a#b"}, result{Verdict: "disallowed", Rule: "Disallow: /a$", Line: 2, Group: "*"}},
		{"URL in the query", request{"robots": robots, "url": "/x?http://h/private"}, result{Allowed: true, Verdict: "allowed", Group: "*"}},
		{"ambiguous", request{"robots": "user-agent: a\ncrawl-delay: 1\nuser-agent: b\ndisallow: /", "token": "b", "url": "/"}, result{Verdict: "disallowed", Rule: "Disallow: /", Line: 4, Group: "b"}},
		{"robots.txt itself", request{"robots": "user-agent: *\ndisallow: /", "token": "b", "url": "/robots.txt"}, result{Allowed: true, Verdict: "allowed"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			line, err := json.Marshal(tc.request)
			if err != nil {
				t.Fatal(err)
			}
			stdout, stderr, code := harness.Command(t, string(line)+"\n", "robots-guard", "explain", "--batch")
			var got result
			if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 {
				t.Fatalf("exit status %d, %v: %s%s", code, err, stdout, stderr)
			}
			if got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

// TestCheckBatchMalformed mixes valid and invalid lines. The output has one line for
// each, in order.
func TestCheckBatchMalformed(t *testing.T) {
	t.Parallel()
	lines := []struct {
		line string
		ok   bool
	}{
		{`{"id":1,"robots":"user-agent: *\ndisallow: /","url":"/x"}`, true},
		{`nonsense`, false},
		{``, false},
		{`{"id":2,"robots":7,"url":"/x"}`, false},
		{`[]`, false},
		{`{"id":3,"robots_b64":"!","url":"/x"}`, false},
		{`{"id":4,"token":"a","user_agent":"b","url":"/x"}`, false},
		{`{"id":{"deep":[1,2]},"robots":"","url":"/x","more":"ignored"}`, true},
		{"{\"id\":5,\"robots\":\"\",\"url\":\"/\xff\"}\r", true},
		{`{"id":6,"robots":"user-agent: *\ndisallow: /","url":"/last"}`, true}, // no final line feed
	}
	var in []string
	for _, l := range lines {
		in = append(in, l.line)
	}
	stdout, stderr, code := harness.Command(t, strings.Join(in, "\n"), "robots-guard", "explain", "--batch")
	if code != 2 || !strings.Contains(stderr, "not understood") {
		t.Errorf("exit status %d, %s", code, stderr)
	}
	got := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if len(got) != len(lines) {
		t.Fatalf("%d answers to %d lines:\n%s", len(got), len(lines), stdout)
	}
	for i, l := range lines {
		var r result
		if err := json.Unmarshal([]byte(got[i]), &r); err != nil {
			t.Errorf("line %d: %v in %s", i+1, err, got[i])
		}
		if (r.Error == "") != l.ok {
			t.Errorf("line %d: %s is answered %s", i+1, l.line, got[i])
		}
		if !l.ok && !strings.Contains(r.Error, fmt.Sprintf("line %d", i+1)) {
			t.Errorf("line %d: the error does not name the line: %s", i+1, r.Error)
		}
	}
}

// stream writes lines to a command. It returns the number of output lines and the peak
// memory, and checks every output line with right.
func stream(t *testing.T, args []string, lines int, write func(w *bufio.Writer, i int), right func(line []byte, i int) bool) (printed int, memory int64) {
	t.Helper()
	cmd := exec.Command(harness.Binary(t), append([]string{"robots-guard"}, args...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		w := bufio.NewWriterSize(in, 1<<16)
		for i := range lines {
			write(w, i)
		}
		_ = w.Flush() // fails if the command has exited, which is checked below
		_ = in.Close()
	}()
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, 1<<22)
	for scanner.Scan() {
		if !right(scanner.Bytes(), printed) {
			t.Errorf("response to line %d: %.300s", printed+1, scanner.Bytes())
			break
		}
		printed++
	}
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	memory, _ = harness.MaxRSS(cmd.ProcessState)
	return printed, memory
}

// mostMemory is the memory limit of a stream. The program itself needs some 60 MiB, and
// the garbage collector frees memory late.
const mostMemory = 200 << 20

func TestCheckBatchStreams(t *testing.T) {
	t.Parallel()
	lines := 40_000
	if harness.Long() {
		lines = 1_000_000
	}
	printed, memory := stream(t, []string{"explain", "--batch"}, lines,
		func(w *bufio.Writer, i int) {
			fmt.Fprintf(w, `{"id":%d,"robots":"User-agent: *\nDisallow: /private/%d","token":"x","url":"/private/%d"}`+"\n", i, i%3, i%2)
		},
		func(line []byte, i int) bool {
			return bytes.HasPrefix(line, fmt.Appendf(nil, `{"id":%d,"allowed":%t,`, i, i%3 != i%2))
		})
	if printed != lines {
		t.Errorf("%d answers, want %d", printed, lines)
	}
	if memory > mostMemory {
		t.Errorf("used %d MiB", memory>>20)
	}
	t.Logf("%d MiB", memory>>20)
}

// TestCommandsAnswerAtOnce sends a line only after the response to the previous one.
func TestCommandsAnswerAtOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args       []string
		line, want string
	}{
		{[]string{"identify"}, "curl/8", "curl\tlibrary"},
		{[]string{"identify", "--json"}, "curl/8", `{"user_agent":"curl/8"`},
		{[]string{"explain", "--batch"}, `{"id":1,"robots":"","url":"/"}`, `{"id":1,"allowed":true`},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(harness.Binary(t), append([]string{"robots-guard"}, tc.args...)...)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			late := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
			defer late.Stop()
			lines := bufio.NewReader(out)
			for range 3 {
				fmt.Fprintln(in, tc.line)
				got, err := lines.ReadString('\n')
				if err != nil || !strings.HasPrefix(got, tc.want) {
					t.Fatalf("got %q, %v", got, err)
				}
			}
			_ = in.Close()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}
