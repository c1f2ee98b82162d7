package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/replay/internal/sample"
)

const rules = "User-agent: *\nDisallow: /private/\n"

// oneVersion is a robots.txt that never changed.
func oneVersion(text string) []Version { return []Version{{Name: "robots.txt", Body: []byte(text)}} }

// combined makes a line of the Combined format.
func combined(at, request, userAgent string) string {
	return fmt.Sprintf("192.0.2.1 - - [%s +0000] \"%s HTTP/1.1\" 200 5 \"-\" \"%s\"\n", at, request, userAgent)
}

const noon = "21/Nov/2026:12:00:00"

// replayed replays a log on standard input.
func replayed(t *testing.T, log string, change func(*Options)) *Report {
	t.Helper()
	o := Options{Logs: []string{"-"}, Stdin: strings.NewReader(log), Versions: oneVersion(rules), Workers: 2}
	if change != nil {
		change(&o)
	}
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestClasses has clients of every sort ask for the same forbidden page.
func TestClasses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		userAgent, token, class string
		disallowed, exempt      uint64
	}{
		{googlebot, "Googlebot", "search", 1, 0},
		{gptbot, "GPTBot", "ai_training", 1, 0},
		{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot", "ChatGPT-User", "ai_assistant", 0, 1},
		{"curl/8.7.1", "curl", "library", 0, 1},
		{"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)", "facebookexternalhit", "preview", 0, 1},
		{"InventedBot/1.0 (+https://invented.example/)", "_other", "crawler", 1, 0},
		{"invented/1.0", "_other", "other", 0, 1},
	} {
		r := replayed(t, combined(noon, "GET /private/x", tc.userAgent), nil)
		if len(r.Crawlers) != 1 {
			t.Errorf("%s: crawlers %+v", tc.userAgent, r.Crawlers)
			continue
		}
		if c := r.Crawlers[0]; c.Token != tc.token || c.Class != tc.class || c.Disallowed != tc.disallowed || c.Exempt != tc.exempt || c.Allowed != 0 {
			t.Errorf("%s: %+v", tc.userAgent, c)
		}
		if r.Classes[0].WouldBlock != tc.disallowed {
			t.Errorf("%s: %+v", tc.userAgent, r.Classes)
		}
	}
	r := replayed(t, combined(noon, "GET /private/x", firefox)+combined(noon, "GET /private/x", "-")+combined(noon, "GET /private/x", ""), nil)
	if r.Browsers != 3 || r.Requests != 0 {
		t.Errorf("%d of browsers, %d requests", r.Browsers, r.Requests)
	}
	r = replayed(t, combined(noon, "GET /private/x", "Zorkly/2.0")+combined(noon, "GET /private/x", "curl/8.7.1"), func(o *Options) {
		o.Versions = oneVersion("User-agent: zorkly\nDisallow: /\n\nUser-agent: curl\nDisallow: /private\n")
	})
	if r.Disallowed != 2 {
		t.Errorf("groups that name what the * group does not judge: %+v", r.Crawlers)
	}
}

// TestTargets says which requests are judged, and as what.
func TestTargets(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, request     string
		requests, outside uint64
		other             uint64
		robots            uint64
	}{
		{"outside", "GET /private/x", 1, 1, 0, 0},
		{"another spelling", "GET /%70rivate//x", 1, 1, 0, 0},
		{"the absolute form", "GET http://example.com/private/x", 1, 1, 0, 0},
		{"the absolute form without a path", "GET http://example.com", 1, 0, 0, 0},
		{"any method", "PROPFIND /private/x", 1, 1, 0, 0},
		{"robots.txt", "GET /robots.txt", 1, 0, 0, 1},
		{"robots.txt in another spelling, with a query", "GET /robots%2etxt?x", 1, 0, 0, 1},
		{"robots.txt in the absolute form", "GET http://example.com/robots.txt", 1, 0, 0, 1},
		{"another robots.txt", "GET /private/robots.txt", 1, 1, 0, 0},
		{"no path", "OPTIONS *", 0, 0, 1, 0},
		{"a proxy request", "CONNECT example.com:443", 0, 0, 1, 0},
		{"garbage", `\x16\x03\x01`, 0, 0, 1, 0},
		{"a certificate validator", "GET /.well-known/acme-challenge/private", 0, 0, 1, 0},
		{"not one", "POST /.well-known/acme-challenge/private", 1, 0, 0, 0},
	} {
		r := replayed(t, combined(noon, tc.request, googlebot), nil)
		var robots uint64
		for _, c := range r.Crawlers {
			robots += c.RobotsRequests
		}
		if r.Requests != tc.requests || r.Disallowed != tc.outside || r.Other != tc.other || robots != tc.robots {
			t.Errorf("%s: %d requests, %d outside, %d others, %d of robots.txt", tc.name, r.Requests, r.Disallowed, r.Other, robots)
		}
	}
	slashes := combined(noon, "GET //private/x", googlebot)
	if r := replayed(t, slashes, func(o *Options) { o.KeepSlashes = true }); r.Disallowed != 0 {
		t.Error("slashes were merged")
	}
}

// TestReadings says when a crawler is held to have read the robots.txt.
func TestReadings(t *testing.T) {
	t.Parallel()
	line := func(hour int, method string, status int) string {
		return fmt.Sprintf("192.0.2.1 - - [21/Nov/2026:%02d:00:00 +0000] \"%s /robots.txt HTTP/1.1\" %d 5 \"-\" \"%s\"\n", hour, method, status, gptbot)
	}
	for _, tc := range []struct{ name, log, want string }{
		{"the file", line(1, "GET", 200), "2026-11-21T01:00:00Z (200)"},
		{"the copy holds", line(1, "GET", 200) + line(2, "GET", 304), "2026-11-21T02:00:00Z (304)"},
		{"there is none", line(1, "GET", 404), "2026-11-21T01:00:00Z (404)"},
		{"a failure tells nothing", line(1, "GET", 200) + line(2, "GET", 503), "2026-11-21T01:00:00Z (200)"},
		{"nor does HEAD", line(1, "HEAD", 200), "never"},
		{"nor a redirect", line(1, "GET", 301), "never"},
		{"the last counts, not the last line", line(5, "GET", 200) + line(2, "GET", 304), "2026-11-21T05:00:00Z (200)"},
	} {
		if got := replayed(t, tc.log, nil).Crawlers[0].ReadText(); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// TestStale follows a crawler around a change of the robots.txt at noon.
func TestStale(t *testing.T) {
	t.Parallel()
	change := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	versions := []Version{{Name: "new", From: change, Body: []byte(rules)}, {Name: "old", From: change.Add(-240 * time.Hour), Body: []byte("User-agent: *\nDisallow: /else/\n")}}
	const forbidden, robots = "GET /private/x", "GET /robots.txt"
	for _, tc := range []struct {
		name, log         string
		disallowed, stale uint64
	}{
		{name: "before the change", log: combined("21/Nov/2026:11:59:59", forbidden, gptbot)},
		{name: "just after it", log: combined("21/Nov/2026:12:00:00", forbidden, gptbot), stale: 1},
		{name: "a day after it", log: combined("22/Nov/2026:11:59:59", forbidden, gptbot) + combined("22/Nov/2026:12:00:00", forbidden, gptbot), stale: 1, disallowed: 1},
		{name: "after it has read the new one", log: combined("21/Nov/2026:13:00:00", forbidden, gptbot) + combined("21/Nov/2026:14:00:00", robots, gptbot) +
			combined("21/Nov/2026:15:00:00", forbidden, gptbot), stale: 1, disallowed: 1},
		{name: "after it has read the old one", log: combined("21/Nov/2026:11:00:00", robots, gptbot) + combined("21/Nov/2026:15:00:00", forbidden, gptbot), stale: 1},
		{name: "after another has read the new one", log: combined("21/Nov/2026:14:00:00", robots, googlebot) + combined("21/Nov/2026:15:00:00", forbidden, gptbot), stale: 1},
		{name: "after its name has read it from elsewhere", log: strings.Replace(combined("21/Nov/2026:14:00:00", robots, gptbot), "192.0.2.1", "198.51.100.1", 1) +
			combined("21/Nov/2026:15:00:00", forbidden, gptbot), stale: 1},
		{name: "what both forbid", log: combined("21/Nov/2026:13:00:00", "GET /private/../else/x", gptbot)},
	} {
		r := replayed(t, tc.log, func(o *Options) { o.Versions = versions })
		if r.Disallowed != tc.disallowed || r.Stale != tc.stale {
			t.Errorf("%s: %d disallowed, %d stale, want %d, %d", tc.name, r.Disallowed, r.Stale, tc.disallowed, tc.stale)
		}
	}
	r := replayed(t, combined("01/Nov/2026:00:00:00", "GET /else/", gptbot), func(o *Options) { o.Versions = versions })
	if r.Disallowed != 1 || !strings.Contains(fmt.Sprint(r.Notes), "1 requests came before the first version") {
		t.Errorf("before the first version: %d disallowed, %q", r.Disallowed, r.Notes)
	}
}

// TestSites chooses requests by the host that the log has.
func TestSites(t *testing.T) {
	t.Parallel()
	line := func(host string) string { return host + " " + combined(noon, "GET /x", googlebot) }
	caddy := func(host string, tls string) string {
		return `{"ts":1795275413,"request":{"method":"GET","host":"` + host + `","uri":"/x","headers":{"User-Agent":["` + googlebot + `"]}` + tls + `},"status":200}` + "\n"
	}
	const secure = `,"tls":{}`
	for _, tc := range []struct {
		name, log string
		sites     []string
		ours      bool
	}{
		{"no choice", line("a.example"), nil, true},
		{"the host", line("a.example"), []string{"a.example"}, true},
		{"in another case, with a dot", line("A.Example."), []string{"a.example"}, true},
		{"another", line("b.example"), []string{"a.example"}, false},
		{"one of two", line("b.example"), []string{"a.example", "b.example"}, true},
		{"not a part of a name", line("www.a.example"), []string{"a.example"}, false},
		{"any port", line("a.example:8080"), []string{"a.example"}, true},
		{"a port", line("a.example:8080"), []string{"a.example:8080"}, true},
		{"another port", line("a.example:8081"), []string{"a.example:8080"}, false},
		{"the scheme's port", line("a.example:443"), []string{"https://a.example"}, true},
		{"not the scheme's port", line("a.example:80"), []string{"https://a.example"}, false},
		{"the scheme", caddy("a.example", secure), []string{"https://a.example"}, true},
		{"the other scheme", caddy("a.example", ""), []string{"https://a.example"}, false},
		{"a port of Caddy's", caddy("a.example:8443", secure), []string{"https://a.example:8443"}, true},
		{"a log that has no host", combined(noon, "GET /x", googlebot), []string{"a.example"}, true},
		{"its absolute form", combined(noon, "GET http://b.example/x", googlebot), []string{"a.example"}, false},
		{"an IPv6 address", caddy("[2001:db8::1]:8443", secure), []string{"https://[2001:db8::1]:8443"}, true},
		{"a host that is too long", line(strings.Repeat("a", 400)), []string{"a.example"}, false},
	} {
		r := replayed(t, tc.log, func(o *Options) { o.Sites = tc.sites })
		if ours := r.Requests == 1; ours != tc.ours || r.OtherSite+r.Requests != 1 {
			t.Errorf("%s: %+v", tc.name, r)
		}
	}
	for _, bad := range []string{"", "a/b", "ftp://a", "http://", "https://a/?x"} {
		if _, err := Run(context.Background(), Options{Logs: []string{"-"}, Versions: oneVersion(rules), Sites: []string{bad}}); err == nil || !strings.Contains(err.Error(), "is no site") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	r := replayed(t, line("a.example")+line("b.example"), func(o *Options) { o.Sites = []string{"c.example"} })
	if !strings.Contains(fmt.Sprint(r.Notes), "No request is of c.example; the logs have a.example") {
		t.Errorf("notes %q", r.Notes)
	}
}

func TestPeriod(t *testing.T) {
	t.Parallel()
	log := combined("20/Nov/2026:23:59:59", "GET /a", googlebot) + combined("21/Nov/2026:00:00:00", "GET /b", googlebot) +
		combined("21/Nov/2026:23:59:59", "GET /c", googlebot) + combined("22/Nov/2026:00:00:00", "GET /d", googlebot)
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	r := replayed(t, log, func(o *Options) { o.Since, o.Until = day(21), day(22) })
	if r.Requests != 2 || r.OtherTime != 2 || len(r.Days) != 1 || timeText(r.First) != "2026-11-21T00:00:00Z" {
		t.Errorf("%+v", r)
	}
	for _, change := range []func(*Options){
		func(o *Options) { o.Since, o.Until = day(22), day(22) },
		func(o *Options) { o.Since, o.Format = day(21), must(ParseFormat(`$remote_addr "$request"`)) },
	} {
		o := Options{Logs: []string{"-"}, Stdin: strings.NewReader(log), Versions: oneVersion(rules)}
		change(&o)
		if _, err := Run(context.Background(), o); err == nil {
			t.Error("no error")
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestMalformed counts lines that are none and shows some.
func TestMalformed(t *testing.T) {
	t.Parallel()
	good := combined(noon, "GET /x", googlebot)
	log := good + "oops \x1b[2J\xff\n" + strings.Repeat(good, 3) + strings.Repeat("x", 5000) + "\n" + good + strings.Repeat("cut off\n", 10) + good + `192.0.2.1 - - [21/N`
	r := replayed(t, log, func(o *Options) { o.maxLine = 1000 })
	if r.Lines != 19 || r.Malformed != 13 || r.Requests != 6 || r.Logs[0].Lines != 19 || r.Logs[0].Malformed != 13 {
		t.Errorf("%d lines, %d malformed, %d requests, %+v", r.Lines, r.Malformed, r.Requests, r.Logs[0])
	}
	var lines []int
	for _, e := range r.Examples {
		lines = append(lines, e.Line)
	}
	if fmt.Sprint(lines) != "[2 6 8 9 10]" || r.Examples[1].Problem != "longer than 512 KiB" || r.Examples[0].Text != "oops \x1b[2J\ufffd" {
		t.Errorf("examples %+v", r.Examples)
	}
	var table bytes.Buffer
	if err := r.WriteTable(&table); err != nil || !strings.Contains(table.String(), "standard input:2: ") || strings.Contains(table.String(), "\x1b") {
		t.Errorf("%v\n%s", err, table.String())
	}
}

// endless is a reader of one line without end.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = 'x'
	}
	n := int(min(int64(len(p)), e.n))
	e.n -= int64(n)
	return n, nil
}

// TestEndlessLine has a line of many times the memory that is there for one.
func TestEndlessLine(t *testing.T) {
	t.Parallel()
	line := combined(noon, "GET /x", googlebot)
	r := replayed(t, "", func(o *Options) {
		o.Stdin = io.MultiReader(strings.NewReader(line), &endless{n: 64 << 20}, strings.NewReader("\n"+line))
	})
	if r.Lines != 3 || r.Malformed != 1 || r.Requests != 2 {
		t.Errorf("%d lines, %d malformed, %d requests", r.Lines, r.Malformed, r.Requests)
	}
}

// TestW3CAcrossChunks changes the fields within a log that is read in pieces.
func TestW3CAcrossChunks(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for part := range 20 {
		fields, line := "date time cs-method cs-uri-stem cs(User-Agent)", "2026-11-21 12:00:00 GET /private/x GPTBot/1.2\r\n"
		if part%2 == 1 {
			fields, line = "cs(User-Agent) cs-uri-stem cs-method sc-status date time", "GPTBot/1.2 /private/x GET 200 2026-11-21 12:00:00\r\n"
		}
		log.WriteString("#Software: x\r\n#Fields: " + fields + "\r\n" + strings.Repeat(line, 100))
	}
	r := replayed(t, log.String(), func(o *Options) { o.maxLine, o.Workers = 700, 4 })
	if r.Disallowed != 2000 || r.Malformed != 0 || r.Other != 40 || r.Logs[0].Format != "w3c" {
		t.Errorf("%d disallowed, %d malformed, %d others", r.Disallowed, r.Malformed, r.Other)
	}
}

// TestLogsThatCannotBeRead has an answer for each that says what to do.
func TestLogsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	log := write("good.log", combined(noon, "GET /x", googlebot))
	for _, tc := range []struct {
		name string
		logs []string
		want string
	}{
		{"missing", []string{filepath.Join(dir, "no.log")}, "no.log does not exist"},
		{"a directory", []string{dir}, "is a directory; name its files, for example " + filepath.Join(dir, "access.log*")},
		{"no match", []string{filepath.Join(dir, "no*.log")}, "no file matches"},
		{"a bad pattern", []string{filepath.Join(dir, "[")}, "cannot be read"},
		{"twice", []string{log, filepath.Join(dir, "good*")}, "is named twice"},
		{"binary", []string{write("binary", "\x7fELF\x00\x00\x00\x00abc")}, "is a binary file, not a log"},
		{"prose", []string{write("prose", "Lorem ipsum\ndolor\n")}, `prose: no known log format; it begins with "Lorem ipsum"; say what it is with --format`},
		{"bzip2", []string{write("a.bz2", "BZh91AY&SY")}, "bzcat"},
		{"xz", []string{write("a.xz", "\xfd7zXZ\x00\x00")}, "xzcat"},
		{"zip", []string{write("a.zip", "PK\x03\x04abc")}, "zip archive"},
		{"a broken gzip header", []string{write("a.gz", "\x1f\x8b\x00\x00\x00\x00")}, "a.gz cannot be read"},
		{"none", nil, "no log given"},
	} {
		r, err := Run(context.Background(), Options{Logs: tc.logs, Versions: oneVersion(rules)})
		if r != nil || err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
	r, err := Run(context.Background(), Options{Logs: []string{write("empty.log", ""), log}, Versions: oneVersion(rules)})
	if err != nil || r.Requests != 1 || len(r.Logs) != 2 || !strings.Contains(fmt.Sprint(r.Notes), "empty.log is empty.") {
		t.Errorf("empty: %v, %+v", err, r)
	}
	whole := compressed(t, combinedLog(1, 3000), 1)
	r, err = Run(context.Background(), Options{Logs: []string{write("cut.gz", string(whole[:len(whole)/2])), log}, Versions: oneVersion(rules)})
	if err == nil || !strings.Contains(err.Error(), "cut.gz cannot be read to its end") || r == nil || r.Lines < 100 || r.Incomplete == "" || r.Logs[1].Lines+r.Logs[0].Lines != int(r.Lines) {
		t.Errorf("cut: %v, %+v", err, r)
	}
	r = replayed(t, "", nil)
	if r.Lines != 0 || fmt.Sprint(r.Notes) != "[standard input is empty.]" {
		t.Errorf("nothing on standard input: %+v", r)
	}
	r = replayed(t, combined("21/Nov/2036:12:00:00", "GET /x", googlebot), func(o *Options) { o.Now = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) })
	if !strings.Contains(fmt.Sprint(r.Notes), "The logs reach into the future, to 2036-11-21T12:00:00Z") {
		t.Errorf("notes %q", r.Notes)
	}
	r = replayed(t, `192.0.2.1 - - [21/Nov/2026:12:00:00 +0000] "GET /private/x HTTP/1.1" 200 5`, nil)
	if !strings.Contains(fmt.Sprint(r.Notes), "has no User-Agents (format common)") {
		t.Errorf("notes %q", r.Notes)
	}
}

// TestNoUserAgents has a log from which the header was filtered.
func TestNoUserAgents(t *testing.T) {
	t.Parallel()
	line := `{"ts":1795275413,"request":{"method":"GET","host":"a","uri":"/private/","headers":{}},"status":200}` + "\n"
	const note = "No request has a User-Agent"
	if r := replayed(t, line+line, nil); !strings.Contains(fmt.Sprint(r.Notes), note) || r.Browsers != 2 {
		t.Errorf("notes %q", r.Notes)
	}
	if r := replayed(t, combined(noon, "GET /", "-")+combined(noon, "GET /", firefox), nil); len(r.Notes) > 0 {
		t.Errorf("notes %q", r.Notes)
	}
}

// blocking is a reader that gives a log and then blocks until it is released.
type blocking struct {
	text    io.Reader
	reached chan struct{}
	release chan struct{}
}

func (b *blocking) Read(p []byte) (int, error) {
	if n, err := b.text.Read(p); err == nil {
		return n, nil
	}
	select {
	case <-b.reached:
	default:
		close(b.reached)
	}
	<-b.release
	return 0, io.EOF
}

// TestInterrupted stops a replay while its log neither ends nor goes on.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	log := combinedLog(1, 5000)
	in := &blocking{text: bytes.NewReader(log), reached: make(chan struct{}), release: make(chan struct{})}
	defer close(in.release)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-in.reached
		cancel()
	}()
	r, err := Run(ctx, Options{Logs: []string{"-"}, Stdin: in, Versions: oneVersion(sample.Robots), Workers: 2, maxLine: 4096})
	if !errors.Is(err, errInterrupted) || r == nil || r.Incomplete == "" || r.Malformed != 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	if sum := r.Other + r.Browsers + r.Requests; sum != r.Lines {
		t.Errorf("the parts add up to %d of %d lines", sum, r.Lines)
	}
}

// TestNoAllocation replays a log a second time: nothing is allocated for a line
// that was not the first of its kind.
func TestNoAllocation(t *testing.T) {
	p, logs, err := (&Options{Logs: []string{"-"}, Stdin: bytes.NewReader(combinedLog(1, 2000)), Versions: oneVersion(sample.Robots), Progress: new(Progress), Workers: 1}).plan()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorker(p)
	k := &chunk{in: logs[0], data: combinedLog(1, 2000)}
	w.work(k)
	if n := testing.AllocsPerRun(5, func() { w.work(k) }); n > 20 {
		t.Errorf("%v allocations for 2,000 lines", n)
	}
}

// TestBoundedMemory has a log of which every line invents a crawler, a path and
// a host: what is kept does not grow with them.
func TestBoundedMemory(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&log, "h%d.example 192.0.2.1 - - [%s +0000] \"GET /private/%d HTTP/1.1\" 200 5 \"-\" \"Invented%dBot/1.0 (+http://x%d.example)\"\n",
			i, time.Unix(int64(i)*86400*4, 0).UTC().Format("02/Jan/2006:15:04:05"), i, i, i)
	}
	r := replayed(t, log.String(), nil)
	if len(r.Crawlers) != 1 || r.Crawlers[0].Token != "_other" || r.Disallowed != 20000 || len(r.Paths) != reportedPaths || len(r.Hosts) != reportedHosts ||
		len(r.Days) > maxDays || len(r.Rules) != 1 {
		t.Errorf("%d crawlers, %d paths, %d hosts, %d days, %d rules", len(r.Crawlers), len(r.Paths), len(r.Hosts), len(r.Days), len(r.Rules))
	}
}
