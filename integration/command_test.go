package integration

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// checked is a robots.txt with several groups.
const checked = `User-agent: *
Disallow: /private/
Allow: /private/press/

User-agent: GPTBot
Disallow: /

User-agent: curl
Disallow: /nocurl

User-agent: zorkly
Disallow: /nozorkly
`

// cases are runs of a command.
type commandCase struct {
	name   string
	args   []string
	stdin  string
	code   int
	stdout string // all of it
	stderr string // a piece of it
}

func runCommands(t *testing.T, all []commandCase) {
	t.Helper()
	for _, tc := range all {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := command(t, tc.stdin, append([]string{"robots-guard"}, tc.args...)...)
			if code != tc.code {
				t.Errorf("exit status %d, want %d; %s", code, tc.code, stderr)
			}
			if stdout != tc.stdout {
				t.Errorf("got\n%swant\n%s", stdout, tc.stdout)
			}
			if !strings.Contains(stderr, tc.stderr) {
				t.Errorf("got on standard error\n%s\nwant %q", stderr, tc.stderr)
			}
			if tc.code == 1 && stderr != "" {
				t.Errorf("unexpected on standard error: %s", stderr)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"robots.txt": checked, "empty.txt": "", "page.html": "<!doctype html><html></html>"})
	robots, empty := filepath.Join(dir, "robots.txt"), filepath.Join(dir, "empty.txt")
	o := newOrigin(t, checked, nil)
	broken := newOrigin(t, "", func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusInternalServerError)
		return true
	})
	none := newOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		http.NotFound(w, r)
		return true
	})
	ownSite := func(url string) string {
		return `{"url":"` + url + `","crawler":"GPTBot","allowed":false,"verdict":"disallowed","rule":"Disallow: /","line":6,"group":"GPTBot","group_line":5,"ambiguous":false}` + "\n"
	}
	table := func(rows ...string) string { return strings.Join(rows, "\n") + "\n" }

	runCommands(t, []commandCase{
		{name: "table", args: []string{"check", "--robots", robots, "--token", "Bingbot", "/private/x", "/private/press/x", "/open"}, code: 1,
			stdout: table(
				"VERDICT     URL               LINE  RULE                    GROUP",
				"disallowed  /private/x        2     Disallow: /private/     *",
				"allowed     /private/press/x  3     Allow: /private/press/  *",
				"allowed     /open             -     -                       *")},
		{name: "all allowed", args: []string{"check", "-r", robots, "-t", "Bingbot", "/open"}, code: 0,
			stdout: table(
				"VERDICT  URL    LINE  RULE  GROUP",
				"allowed  /open  -     -     *")},
		{name: "json", args: []string{"check", "--robots", robots, "--token", "GPTBot", "--json", "http://a.test/x#y"}, code: 1,
			stdout: `{"url":"http://a.test/x#y","crawler":"GPTBot","allowed":false,"verdict":"disallowed","rule":"Disallow: /","line":6,"group":"GPTBot","group_line":5,"ambiguous":false}` + "\n"},
		{name: "json in another form", args: []string{"check", "--robots", robots, "--json", "//%70rivate//x"}, code: 1,
			stdout: `{"url":"//%70rivate//x","allowed":false,"verdict":"disallowed","rule":"Disallow: /private/","line":2,"group":"*","group_line":1,"form":"slashes","ambiguous":false}` + "\n"},
		{name: "User-Agent of a browser", args: []string{"check", "--robots", robots, "--json", "--user-agent", firefox, "/private/x"}, code: 0,
			stdout: `{"url":"/private/x","class":"browser","allowed":true,"verdict":"exempt","rule":"","line":0,"group":"","ambiguous":false}` + "\n"},
		{name: "empty User-Agent", args: []string{"check", "--robots", robots, "--json", "--user-agent", "", "/private/x"}, code: 0,
			stdout: `{"url":"/private/x","class":"browser","allowed":true,"verdict":"exempt","rule":"","line":0,"group":"","ambiguous":false}` + "\n"},
		{name: "User-Agent of a library", args: []string{"check", "--robots", robots, "--json", "--user-agent", curl, "/private/x", "/nocurl"}, code: 1,
			stdout: `{"url":"/private/x","crawler":"curl","class":"library","identity":"claimed","allowed":true,"verdict":"allowed","rule":"","line":0,"group":"curl","group_line":8,"ambiguous":false}` + "\n" +
				`{"url":"/nocurl","crawler":"curl","class":"library","identity":"claimed","allowed":false,"verdict":"disallowed","rule":"Disallow: /nocurl","line":9,"group":"curl","group_line":8,"ambiguous":false}` + "\n"},
		{name: "a false name gains nothing", args: []string{"check", "--robots", robots, "--json", "--user-agent", curl, "--identity", "spoofed", "/private/x"}, code: 1,
			stdout: `{"url":"/private/x","crawler":"curl","class":"library","identity":"spoofed","allowed":false,"verdict":"disallowed","rule":"Disallow: /private/","line":2,"group":"*","group_line":1,"ambiguous":false}` + "\n"},
		{name: "unknown identity", args: []string{"check", "--robots", robots, "--user-agent", curl, "--identity", "fake", "/"}, code: 2, stderr: "claimed, verified, unknown or spoofed"},
		{name: "identity of a token", args: []string{"check", "--robots", robots, "--token", "curl", "--identity", "spoofed", "/"}, code: 2, stderr: "--user-agent"},
		{name: "User-Agent that only the file knows", args: []string{"check", "--robots", robots, "--json", "--user-agent", "Zorkly/2.0", "/nozorkly"}, code: 1,
			stdout: `{"url":"/nozorkly","crawler":"zorkly","class":"other","identity":"claimed","allowed":false,"verdict":"disallowed","rule":"Disallow: /nozorkly","line":12,"group":"zorkly","group_line":11,"ambiguous":false}` + "\n"},
		{name: "empty file", args: []string{"check", "--robots", empty, "--token", "GPTBot", "/"}, code: 0,
			stdout: table("VERDICT  URL  LINE  RULE  GROUP", "allowed  /    -     -     -")},
		{name: "standard input", args: []string{"check", "--robots", "-", "--token", "GPTBot", "/"}, stdin: checked, code: 1,
			stdout: table("VERDICT     URL  LINE  RULE         GROUP", "disallowed  /    6     Disallow: /  GPTBot")},
		{name: "robots URL", args: []string{"check", "--robots", o.URL + "/robots.txt", "--token", "GPTBot", "/"}, code: 1,
			stdout: table("VERDICT     URL  LINE  RULE         GROUP", "disallowed  /    6     Disallow: /  GPTBot")},
		{name: "own site", args: []string{"check", "--token", "GPTBot", "--json", o.URL + "/x", o.URL, o.URL + "?q"}, code: 1,
			stdout: ownSite(o.URL+"/x") + ownSite(o.URL) + ownSite(o.URL+"?q")},
		{name: "own site without a robots.txt", args: []string{"check", "--token", "GPTBot", "--json", none.URL + "/x"}, code: 0,
			stdout: `{"url":"` + none.URL + `/x","crawler":"GPTBot","allowed":true,"verdict":"allowed","rule":"","line":0,"group":"","ambiguous":false}` + "\n"},
		{name: "own site that fails", args: []string{"check", "--token", "GPTBot", broken.URL + "/x"}, code: 2, stderr: "the server answers 500"},
		{name: "nobody listens", args: []string{"check", "--robots", "http://127.0.0.1:1/robots.txt", "/x"}, code: 2, stderr: "cannot read http://127.0.0.1:1/robots.txt"},
		{name: "no such file", args: []string{"check", "--robots", "/no/such/file", "/x"}, code: 2, stderr: "/no/such/file"},
		{name: "a directory", args: []string{"check", "--robots", dir, "/x"}, code: 2, stderr: dir},
		{name: "no URL", args: []string{"check", "--robots", robots}, code: 2, stderr: "no URL given"},
		{name: "path without a site", args: []string{"check", "/x"}, code: 2, stderr: "--robots"},
		{name: "two claims", args: []string{"check", "--robots", robots, "--token", "a", "--user-agent", "b", "/x"}, code: 2, stderr: "either --user-agent or --token"},
		{name: "unknown flag", args: []string{"check", "--robot", robots, "/x"}, code: 2, stderr: "--robot"},
		{name: "batch and more", args: []string{"check", "--batch", "/x"}, code: 2, stderr: "--batch"},
		{name: "unknown command", args: []string{"chek"}, code: 2, stderr: "chek"},
	})
}

// result is an answer of check --batch.
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
		{"token of a group, forbidden", request{"id": nil, "robots": robots, "token": "gptbot", "url": "/gpt"}, result{Verdict: "disallowed", Rule: "Disallow: /gpt", Line: 6, Group: "GPTBot"}},
		{"no claim", request{"robots": robots, "url": "/private"}, result{Verdict: "disallowed", Rule: "Disallow: /private", Line: 2, Group: "*"}},
		{"empty token", request{"robots": robots, "token": "", "url": "/private"}, result{Verdict: "disallowed", Rule: "Disallow: /private", Line: 2, Group: "*"}},
		{"token *", request{"robots": robots, "token": "*", "url": "/private"}, result{Verdict: "disallowed", Rule: "Disallow: /private", Line: 2, Group: "*"}},
		{"User-Agent", request{"robots": robots, "user_agent": gptBot, "url": "/gpt"}, result{Verdict: "disallowed", Rule: "Disallow: /gpt", Line: 6, Group: "GPTBot"}},
		{"browser", request{"robots": robots, "user_agent": firefox, "url": "/private"}, result{Allowed: true, Verdict: "exempt"}},
		{"library", request{"robots": robots, "user_agent": curl, "url": "/private"}, result{Allowed: true, Verdict: "exempt"}},
		{"empty User-Agent", request{"robots": robots, "user_agent": "", "url": "/private"}, result{Allowed: true, Verdict: "exempt"}},
		{"AdsBot as a token obeys *", request{"robots": robots, "token": "AdsBot-Google", "url": "/private"}, result{Verdict: "disallowed", Rule: "Disallow: /private", Line: 2, Group: "*"}},
		{"AdsBot as a User-Agent does not", request{"robots": robots, "user_agent": adsBot, "url": "/private"}, result{Allowed: true, Verdict: "exempt"}},
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
			stdout, stderr, code := command(t, string(line)+"\n", "robots-guard", "check", "--batch")
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

// TestCheckBatchMalformed has lines that are no requests among others. Each is
// answered, in its place.
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
		{`{"id":6,"robots":"user-agent: *\ndisallow: /","url":"/last"}`, true}, // no line end
	}
	var in []string
	for _, l := range lines {
		in = append(in, l.line)
	}
	stdout, stderr, code := command(t, strings.Join(in, "\n"), "robots-guard", "check", "--batch")
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

// stream feeds a command, and returns how many lines it printed, the memory it
// needed, and whether every line was right.
func stream(t *testing.T, args []string, lines int, write func(w *bufio.Writer, i int), right func(line []byte, i int) bool) (printed int, memory int64) {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"robots-guard"}, args...)...)
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
		_ = w.Flush() // fails if the command has ended, which is noticed below
		_ = in.Close()
	}()
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, 1<<22)
	for scanner.Scan() {
		if !right(scanner.Bytes(), printed) {
			t.Errorf("line %d is answered %.300s", printed+1, scanner.Bytes())
			break
		}
		printed++
	}
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	memory, _ = maxRSS(cmd.ProcessState)
	return printed, memory
}

// mostMemory bounds what a stream may need: the program itself takes some 60
// MiB, and the collector lets garbage lie for a while.
const mostMemory = 200 << 20

func TestCheckBatchStreams(t *testing.T) {
	t.Parallel()
	const lines = 200_000
	printed, memory := stream(t, []string{"check", "--batch"}, lines,
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
		t.Errorf("%d MiB needed", memory>>20)
	}
	t.Logf("%d MiB", memory>>20)
}

func TestIdentifyStreams(t *testing.T) {
	t.Parallel()
	const lines = 1_000_000
	printed, memory := stream(t, []string{"identify"}, lines,
		func(w *bufio.Writer, i int) {
			switch i % 3 {
			case 0:
				fmt.Fprintf(w, "Invented%dBot/1.0 (+http://x.example/)\n", i)
			case 1:
				_, _ = w.WriteString(firefox + "\n")
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
		t.Errorf("%d MiB needed", memory>>20)
	}
	t.Logf("%d MiB", memory>>20)
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	long := "GPTBot/1.0 " + strings.Repeat("x", 1<<20)
	runCommands(t, []commandCase{
		{name: "arguments", args: []string{"identify", gptBot, firefox, "", "-", curl},
			stdout: "GPTBot\tai_training\n-\tbrowser\n-\tbrowser\n-\tbrowser\ncurl\tlibrary\n"},
		{name: "standard input", args: []string{"identify"}, stdin: gptBot + "\n\n-\n" + curl + "\n",
			stdout: "GPTBot\tai_training\n-\tbrowser\n-\tbrowser\ncurl\tlibrary\n"},
		{name: "no line end", args: []string{"identify"}, stdin: curl, stdout: "curl\tlibrary\n"},
		{name: "nothing", args: []string{"identify"}},
		{name: "CRLF", args: []string{"identify"}, stdin: "bingbot/2.0\r\n\r\n-\r\ncurl/8\r\n",
			stdout: "bingbot\tsearch\n-\tbrowser\n-\tbrowser\ncurl\tlibrary\n"},
		{name: "binary", args: []string{"identify"}, stdin: "\x00\xff\n\x80\n\x1b[31m\nMozilla/5.0 \xff\xfe(compatible; \xe4\xb8\xadBot/1.0)\ncurl/\x00\n",
			stdout: "-\tbrowser\n-\tbrowser\n31m\tother\nBot\tcrawler\ncurl\tlibrary\n"},
		{name: "long line", args: []string{"identify"}, stdin: long + "\n" + curl + "\n", stdout: "GPTBot\tai_training\ncurl\tlibrary\n"},
		{name: "only a long line", args: []string{"identify"}, stdin: long, stdout: "GPTBot\tai_training\n"},
		{name: "unknown flag", args: []string{"identify", "--jason"}, code: 2, stderr: "--jason"},
	})
	// The number of lines is kept whatever their length.
	stdout, _, _ := command(t, strings.Repeat("x", 1<<16)+"\n"+strings.Repeat("y", 1<<17)+"\n"+strings.Repeat("z", 1<<16-1)+"\n"+curl, "robots-guard", "identify")
	if n := strings.Count(stdout, "\n"); n != 4 || !strings.HasSuffix(stdout, "\ncurl\tlibrary\n") {
		t.Errorf("%d answers to 4 lines: %s", n, tail(stdout, 200))
	}
}

func TestIdentifyJSON(t *testing.T) {
	t.Parallel()
	stdout, stderr, code := command(t, gptBot+"\n\n"+fooBot+"\n\xff\"\n", "robots-guard", "identify", "--json")
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
		{"user_agent": gptBot, "token": "GPTBot", "name": "GPTBot", "class": "ai_training", "evidence": "registry", "wildcard": true},
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

// TestCommandsAnswerAtOnce has a producer that waits for each answer before it
// goes on.
func TestCommandsAnswerAtOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args       []string
		line, want string
	}{
		{[]string{"identify"}, "curl/8", "curl\tlibrary"},
		{[]string{"identify", "--json"}, "curl/8", `{"user_agent":"curl/8"`},
		{[]string{"check", "--batch"}, `{"id":1,"robots":"","url":"/"}`, `{"id":1,"allowed":true`},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(binary, append([]string{"robots-guard"}, tc.args...)...)
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
