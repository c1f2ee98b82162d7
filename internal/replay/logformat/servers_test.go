package logformat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	gptbot    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	firefox   = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
)

// The logs in testdata come from nginx 1.22.1, Apache 2.4.67 and Caddy v2.11.9 on Debian 12.

// sent are the targets and User-Agents of the requests in testdata, as sent over the wire.
var sent = []struct{ target, userAgent string }{
	{"/", firefox},
	{"/robots.txt", googlebot},
	{"/private/a", googlebot},
	{`/private/b?x=1&y="q"`, gptbot},
	{`/private/"quoted\path"`, googlebot},
	{"/private/\xff\xfe\xc3(", googlebot},
	{"/private/\u00fcn\u00ef", googlebot},
	{"/p%72ivate/x%2Fy", googlebot},
	{"/private/" + strings.Repeat("a", 8000), googlebot},
	{"/private/ua1", "GPTBot/1.2 \"quoted\" \\back\\slash \\x22 \t tab"},
	{"/private/ua2", "GPTBot/1.2 \xff\xfe\x80 invalid"},
	{"/private/ua3", `GPTBot/1.2" 200 5 "-" "Mozilla/5.0`},
	{"/private/ua4", "GPTBot/1.2 \x01\x7f ctl"},
	{"/private/noua", ""},
	{"/private/emptyua", ""},
	{"/private/dashua", "-"},
	{"/private/curl", "curl/8.7.1"},
	{"http://example.com/private/absolute", googlebot},
	{"http://other.example/private/otherhost", googlebot},
	{"/private/absolute", googlebot}, // as in $request_uri of nginx
	{"/private/otherhost", googlebot},
	{"/private/head", googlebot},
	{"/private/post", googlebot},
	{"/private/user", googlebot},
	{"/private/user2", googlebot},
	{"/private/user3", googlebot},
	{"/private/ref", googlebot},
	{"/private/10", googlebot},
	{"/private/09", ""},
	{"/private/port", googlebot},
	{"/private/case", googlebot},
	{"/private/#frag", googlebot},
	{"//private//x", googlebot},
	{"/x/../private/dots", googlebot},
	{"/robots%2Etxt?x", gptbot},
	{"/missing", googlebot},
	{"/private/long-ua", "GPTBot/1.2 " + strings.Repeat("z", 9000)},
}

// TestServers parses the logs of real servers and compares them with the requests.
func TestServers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		log, format string
		requests    int  // lines with a target
		others      int  // lines without a target
		lossy       bool // invalid UTF-8 is replaced
		host        bool
	}{
		{log: "nginx-combined", format: "combined", requests: 36, others: 3},
		{log: "nginx-vhost", format: "host_combined", requests: 36, others: 3, host: true},
		{log: "nginx-common", format: "common", requests: 36, others: 3},
		{log: "nginx-main", format: "combined", requests: 36, others: 3},
		{log: "nginx-json", format: "nginx", requests: 35, others: 4, host: true},
		{log: "apache-combined", format: "combined", requests: 36, others: 3},
		{log: "apache-vhost", format: "host_combined", requests: 36, others: 3, host: true},
		{log: "apache-common", format: "common", requests: 36, others: 3},
		{log: "caddy", format: "caddy", requests: 33, lossy: true, host: true},
	} {
		t.Run(tc.log, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("testdata", tc.log+".log"))
			if err != nil {
				t.Fatal(err)
			}
			f, err := Recognise(text)
			if err != nil || f.Name != tc.format {
				t.Fatalf("recognised as %v, %v, want %s", f, err, tc.format)
			}
			want := make(map[string]string)
			for _, s := range sent {
				target, userAgent := s.target, s.userAgent
				if tc.lossy {
					target, userAgent = replaced(target), replaced(userAgent)
				}
				want[target] = userAgent
			}
			requests, others, n := 0, 0, 0
			p := f.NewParser()
			var r Record
			for line := range strings.Lines(string(text)) {
				n++
				what, why := p.Parse(TrimLineEnd([]byte(line)), &r)
				if what != Request {
					t.Errorf("line %d: %s", n, why)
					continue
				}
				if !r.HasTime || timeOf(r.At).Format("2006-01-02") != "2026-11-21" || r.Status == 0 {
					t.Errorf("line %d: time %v, status %d", n, timeOf(r.At), r.Status)
				}
				if len(r.Target) == 0 {
					others++
					continue
				}
				requests++
				userAgent, ok := want[string(r.Target)]
				switch {
				case !ok && r.Status != 400:
					t.Errorf("line %d: nobody asked for %.100q", n, r.Target)
				case !f.HasUserAgent, r.Status == 400: // rejected before the server read the User-Agent
				case string(r.UserAgent) != string(dashToNil([]byte(userAgent))) && string(r.UserAgent) != userAgent:
					t.Errorf("line %d: User-Agent %.100q, want %.100q", n, r.UserAgent, userAgent)
				}
				if host, _, _ := strings.Cut(string(r.Host), ":"); tc.host && r.Status != 400 && ok && userAgent != "" {
					if w := wantHost(string(r.Target)); !strings.EqualFold(strings.TrimSuffix(host, "."), w) {
						t.Errorf("line %d: host %q, want %q", n, host, w)
					}
				}
			}
			if requests != tc.requests || others != tc.others {
				t.Errorf("%d requests and %d others, want %d and %d", requests, others, tc.requests, tc.others)
			}
		})
	}
}

// wantHost returns the host of a target.
func wantHost(target string) string {
	if strings.Contains(target, "otherhost") {
		return "other.example"
	}
	return "example.com"
}

// replaced returns s as Caddy logs it, with a replacement for each invalid UTF-8 byte.
func replaced(s string) string {
	var b strings.Builder
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		b.WriteRune(r)
		s = s[size:]
	}
	return b.String()
}
