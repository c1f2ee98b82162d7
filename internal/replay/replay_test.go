package replay

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

const (
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	gptbot    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	firefox   = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
)

const rules = "User-agent: *\nDisallow: /private/\n"

// oneVersion returns a robots.txt that never changed.
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

// TestSites selects requests by their host.
func TestSites(t *testing.T) {
	t.Parallel()
	line := func(host string) string { return host + " " + combined(noon, "GET /x", googlebot) }
	caddy := func(host string) string {
		return `{"ts":1795275413,"request":{"method":"GET","host":"` + host + `","uri":"/x","headers":{"User-Agent":["` + googlebot + `"]},"tls":{}},"status":200}` + "\n"
	}
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
		{"a URL with a port", line("a.example:8080"), []string{"https://a.example:8443"}, true},
		{"a port of Caddy's", caddy("a.example:8443"), []string{"https://a.example"}, true},
		{"a log that has no host", combined(noon, "GET /x", googlebot), []string{"a.example"}, true},
		{"its absolute form", combined(noon, "GET http://b.example/x", googlebot), []string{"a.example"}, false},
		{"an IPv6 address", caddy("[2001:db8::1]:8443"), []string{"https://[2001:db8::1]:8443"}, true},
		{"a host that is too long", line(strings.Repeat("a", 400)), []string{"a.example"}, false},
	} {
		r := replayed(t, tc.log, func(o *Options) { o.Sites = tc.sites })
		if ours := r.Requests == 1; ours != tc.ours || r.OtherSiteLines+r.Requests != 1 {
			t.Errorf("%s: %+v", tc.name, r)
		}
	}
	for _, bad := range []string{"", "a/b", "ftp://a", "http://", "https://a/?x"} {
		if _, err := Run(context.Background(), Options{Logs: []string{"-"}, Versions: oneVersion(rules), Sites: []string{bad}}); err == nil || !strings.Contains(err.Error(), "is not a site") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	r := replayed(t, line("a.example")+line("b.example"), func(o *Options) { o.Sites = []string{"c.example"} })
	if !strings.Contains(fmt.Sprint(r.Notes), "No request is for c.example; the logs contain a.example") {
		t.Errorf("notes %q", r.Notes)
	}
}

func TestPeriod(t *testing.T) {
	t.Parallel()
	log := combined("20/Nov/2026:23:59:59", "GET /a", googlebot) + combined("21/Nov/2026:00:00:00", "GET /b", googlebot) +
		combined("21/Nov/2026:23:59:59", "GET /c", googlebot) + combined("22/Nov/2026:00:00:00", "GET /d", googlebot)
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	r := replayed(t, log, func(o *Options) { o.Since, o.Until = day(21), day(22) })
	if r.Requests != 2 || r.OtherTimeLines != 2 || formatTime(r.First) != "2026-11-21T00:00:00Z" {
		t.Errorf("%+v", r)
	}
	for _, change := range []func(*Options){
		func(o *Options) { o.Since, o.Until = day(22), day(22) },
		func(o *Options) { o.Since, o.Stdin = day(21), strings.NewReader(untimed("/x", googlebot)) },
	} {
		o := Options{Logs: []string{"-"}, Stdin: strings.NewReader(log), Versions: oneVersion(rules)}
		change(&o)
		if _, err := Run(context.Background(), o); err == nil {
			t.Error("no error")
		}
	}
}

// untimed makes a JSON line of nginx without a time.
func untimed(target, userAgent string) string {
	return fmt.Sprintf(`{"request_uri":"%s","status":200,"http_user_agent":"%s"}`+"\n", target, userAgent)
}

// TestNoUserAgents replays a log without User-Agents.
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

// blocking is a reader that returns a log and then blocks until released.
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

// TestInterrupted stops a replay while a read of the log blocks.
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
	r, err := Run(ctx, Options{Logs: []string{"-"}, Stdin: in, Versions: oneVersion(sampleRobots), Workers: 2, maxLine: 4096})
	if err == nil || !strings.Contains(err.Error(), "interrupted") || r == nil || r.Incomplete == "" || r.Malformed != 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	if sum := r.OtherLines + r.Browsers + r.Requests; sum != r.Lines {
		t.Errorf("the parts add up to %d of %d lines", sum, r.Lines)
	}
}
