package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestUnescape(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`plain`, "plain"},
		{`\x22a\x5Cb\xff`, "\"a\\b\xff"},
		{`\"a\\b\n\t\r\b\f\v\/`, "\"a\\b\n\t\r\b\f\v/"},
		{`\\x22`, `\x22`},
		{`\u00fc\ud83d\ude00`, "ü😀"},
		{`\ud83dx`, "\ufffdx"},
		{`\x2`, `\x2`},
		{`\xzz`, `\xzz`},
		{`\u00g0`, `\u00g0`},
		{`\q`, `\q`},
		{`a\`, `a\`},
	} {
		var buf []byte
		if got := string(unescape([]byte(tc.in), &buf)); got != tc.want {
			t.Errorf("%s is %q, want %q", tc.in, got, tc.want)
		}
	}
}

func TestUnpercent(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "%20b%2": " b%2", "%": "%", "%zz%41": "%zzA", "%2520": "%20"} {
		var buf []byte
		if got := string(unpercent([]byte(in), &buf)); got != want {
			t.Errorf("%s is %q, want %q", in, got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	for _, tc := range []struct{ in, want string }{ // "" for no time
		{"21/Nov/2026:15:36:53 +0000", "2026-11-21T15:36:53Z"},
		{"21/nov/2026:15:36:53 -0130", "2026-11-21T17:06:53Z"},
		{"29/Feb/2024:23:59:60 +0100", "2024-02-29T23:00:00Z"},
		{"01/Jan/1970:00:00:00 +0000", "1970-01-01T00:00:00Z"},
		{"21/Now/2026:15:36:53 +0000", ""},
		{"00/Nov/2026:15:36:53 +0000", ""},
		{"21/Nov/2026:24:36:53 +0000", ""},
		{"21/Nov/9999:15:36:53 +0000", ""},
		{"21/Nov/2026 15:36:53 +0000", ""},
		{"2026-11-21T15:36:53Z", "2026-11-21T15:36:53Z"},
		{"2026-11-21T15:36:53.25+02:00", "2026-11-21T13:36:53.25Z"},
		{"2026-11-21T15:36:53+0200", "2026-11-21T13:36:53Z"},
		{"2026/11/21 15:36:53.123456789", "2026-11-21T15:36:53.123456789Z"},
		{"2026-11-21 15:36:53", "2026-11-21T15:36:53Z"},
		{"2026-11-21T15:36:53X", ""},
		{"1795275413", "2026-11-21T15:36:53Z"},
		{"1795275413.7122183", "2026-11-21T15:36:53.7122183Z"},
		{"1795275413712", "2026-11-21T15:36:53.712Z"},
		{"1795275413712218", "2026-11-21T15:36:53.712218Z"},
		{"1795275413712218300", "2026-11-21T15:36:53.7122183Z"},
		{"99999999999999999999", ""},
		{"9999999999", ""}, // the year 2286
		{"-1", ""},
		{"", ""},
		{"-", ""},
	} {
		at, ok := anyTime([]byte(tc.in))
		if tc.want == "" {
			if ok {
				t.Errorf("%q is %s, want none", tc.in, timeOf(at))
			}
		} else if got := timeOf(at).Format(time.RFC3339Nano); !ok || got != tc.want {
			t.Errorf("%q is %s (%t), want %s", tc.in, got, ok, tc.want)
		}
	}
}

// TestTimesAgree compares every hour of some years, leap ones among them, with
// the standard library.
func TestTimesAgree(t *testing.T) {
	for _, year := range []int{1970, 1999, 2000, 2024, 2026, 2100} {
		for at := time.Date(year, 1, 1, 0, 59, 58, 0, time.UTC); at.Year() == year; at = at.Add(7 * time.Hour) {
			for _, layout := range []string{"02/Jan/2006:15:04:05 -0700", time.RFC3339} {
				if got, ok := anyTime([]byte(at.Format(layout))); !ok || got != at.UnixNano() {
					t.Fatalf("%s: %s (%t)", at.Format(layout), timeOf(got), ok)
				}
			}
		}
	}
}

// parsed is a record as strings.
type parsed struct {
	at, method, target, host, port, scheme, userAgent, client string
	status                                                    int
}

func (r *record) parsed() parsed {
	p := parsed{"", string(r.method), string(r.target), string(r.host), string(r.port), string(r.scheme), string(r.userAgent), string(r.client), r.status}
	if r.hasTime {
		p.at = timeOf(r.at).Format(time.RFC3339Nano)
	}
	return p
}

const when = "2026-11-21T15:36:53Z"

func TestLines(t *testing.T) {
	const (
		common    = `%h %l %u %t "%r" %>s %b`
		iis       = "#Software: Microsoft Internet Information Services 10.0\n#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) cs-host sc-status\n"
		cloud     = "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol\n"
		cloudLine = "2026-11-21\t15:36:53\tFRA2\t10\t192.0.2.1\tGET\td1.cloudfront.net\t/a\t200\t-\t%s\t%s\t-\tHit\tid\texample.com\thttps"
	)
	for _, tc := range []struct {
		name, format, line string
		what               outcome
		want               parsed
	}{
		{"common", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`, isRequest,
			parsed{when, "GET", "/a", "", "", "", "", "192.0.2.1", 200}},
		{"a user who has spaces", common, `192.0.2.1 - john doe [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`, isRequest,
			parsed{when, "GET", "/a", "", "", "", "", "192.0.2.1", 200}},
		{"a user who looks like a time", common, `192.0.2.1 - x [99/Nov/2026:15:36:53 +0000] [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`, isRequest,
			parsed{when, "GET", "/a", "", "", "", "", "192.0.2.1", 200}},
		{"HTTP/0.9", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a" 200 5`, isRequest,
			parsed{when, "GET", "/a", "", "", "", "", "192.0.2.1", 200}},
		{"no request", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "-" 408 -`, isRequest,
			parsed{when, "", "", "", "", "", "", "192.0.2.1", 408}},
		{"CONNECT", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "CONNECT a.example:443 HTTP/1.1" 405 -`, isRequest,
			parsed{when, "CONNECT", "", "", "", "", "", "192.0.2.1", 405}},
		{"OPTIONS *", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "OPTIONS * HTTP/1.1" 200 -`, isRequest,
			parsed{when, "OPTIONS", "", "", "", "", "", "192.0.2.1", 200}},
		{"absolute form", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET HTTPS://u@A.example:81/a?b HTTP/1.1" 200 5`, isRequest,
			parsed{when, "GET", "HTTPS://u@A.example:81/a?b", "A.example:81", "", "HTTPS", "", "192.0.2.1", 200}},
		{"cut off", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HT`, isMalformed, parsed{}},
		{"no time", common, `192.0.2.1 - - [-] "GET /a HTTP/1.1" 200 5`, isMalformed, parsed{}},
		{"no status", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" abc 5`, isMalformed, parsed{}},
		{"empty", common, ``, isOther, parsed{}},
		{"a quote that a backslash escapes at the end", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a\" HTTP/1.1\\" 200 5`, isRequest,
			parsed{when, "GET", `/a"`, "", "", "", "", "192.0.2.1", 200}},
		{"IPv6 host and port", `%v:%p %h %l %u %t "%r" %>s %b`, `[2001:db8::1]:443 2001:db8::2 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`, isRequest,
			parsed{when, "GET", "/a", "[2001:db8::1]", "443", "", "", "2001:db8::2", 200}},
		{"nginx variables", `$msec $scheme $host $request_method $request_uri $status ${remote_addr}`, `1795275413.000 https a.example GET /a?b 200 192.0.2.1`, isRequest,
			parsed{when, "GET", "/a?b", "a.example", "", "https", "", "192.0.2.1", 200}},

		{"caddy", "caddy", `{"ts":1795275413,"logger":"http.log.access.log0","request":{"remote_ip":"192.0.2.9","client_ip":"192.0.2.1","method":"GET","host":"a.example:8443","uri":"/a?\u0022","headers":{"Accept":["*/*"],"User-Agent":["x\/1 \"y\"","z"]},"tls":{"resumed":false}},"status":200}`, isRequest,
			parsed{when, "GET", `/a?"`, "a.example:8443", "", "https", `x/1 "y", z`, "192.0.2.1", 200}},
		{"caddy with another time format and white space", "caddy", ` { "status" : 200 , "request" : { "uri" : "/a" , "method":"GET","headers" : { } } , "ts" : "2026-11-21T15:36:53.000Z" } `, isRequest,
			parsed{when, "GET", "/a", "", "", "http", "", "", 200}},
		{"caddy without the header", "caddy", `{"ts":1795275413,"request":{"method":"GET","host":"a","uri":"/a","headers":null},"status":200}`, isRequest,
			parsed{when, "GET", "/a", "a", "", "http", "", "", 200}},
		{"caddy, another message", "caddy", `{"level":"info","ts":1795275413,"logger":"tls","msg":"x"}`, isOther, parsed{}},
		{"caddy, an error about a request that is logged, too", "caddy", `{"level":"error","ts":1795275413,"logger":"http.log.error","msg":"x","request":{"method":"GET","uri":"/a"},"status":500}`, isOther, parsed{}},
		{"caddy, cut off", "caddy", `{"ts":1795275413,"request":{"method":"GET","uri":"/a`, isMalformed, parsed{}},
		{"caddy, two on a line", "caddy", `{"ts":1795275413,"request":{"method":"GET","uri":"/a"},"status":200}{"ts":1}`, isMalformed, parsed{}},
		{"caddy, no object", "caddy", `GET /`, isMalformed, parsed{}},
		{"caddy, a bad time", "caddy", `{"ts":"yesterday","request":{"method":"GET","uri":"/a"},"status":200}`, isMalformed, parsed{}},

		{"cloudflare", "cloudflare", `{"ClientIP":"192.0.2.1","ClientRequestHost":"a.example","ClientRequestMethod":"GET","ClientRequestURI":"/a?b","ClientRequestScheme":"https","ClientRequestUserAgent":"x/1","EdgeResponseStatus":200,"EdgeStartTimestamp":"2026-11-21T15:36:53Z","More":{"a":[1,"}"]}}`, isRequest,
			parsed{when, "GET", "/a?b", "a.example", "", "https", "x/1", "192.0.2.1", 200}},
		{"cloudflare, nanoseconds", "cloudflare", `{"ClientRequestURI":"/a","EdgeStartTimestamp":1795275413000000000}`, isRequest,
			parsed{when, "", "/a", "", "", "", "", "", 0}},
		{"cloudflare without the field", "cloudflare", `{"ClientRequestPath":"/a"}`, isMalformed, parsed{}},

		{"IIS", "w3c", iis + "2026-11-21 15:36:53 10.0.0.1 GET /a/b.aspx x=1 443 - 192.0.2.1 Mozilla/5.0+(compatible;+bingbot/2.0;++http://www.bing.com/bingbot.htm) - a.example 200", isRequest,
			parsed{when, "GET", "/a/b.aspx?x=1", "a.example", "443", "", "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "192.0.2.1", 200}},
		{"IIS without a query and a User-Agent", "w3c", iis + "2026-11-21 15:36:53 10.0.0.1 GET / - 80 - 192.0.2.1 - - - 200", isRequest,
			parsed{when, "GET", "/", "", "80", "", "", "192.0.2.1", 200}},
		{"IIS, a field less", "w3c", iis + "2026-11-21 15:36:53 10.0.0.1 GET /", isMalformed, parsed{}},
		{"IIS, a field more", "w3c", iis + "2026-11-21 15:36:53 10.0.0.1 GET / - 80 - 192.0.2.1 - - - 200 x", isMalformed, parsed{}},
		{"W3C, the date above", "w3c", "#Date: 2026-11-21 00:00:00\n#Fields: time cs-method cs-uri\n15:36:53 GET /a?b", isRequest,
			parsed{when, "GET", "/a?b", "", "", "", "", "", 0}},
		{"W3C, no fields", "w3c", "15:36:53 GET /a?b", isMalformed, parsed{}},
		{"W3C, other fields from here on", "w3c", iis + "#Fields: cs-method cs-uri-stem\nGET /a", isRequest, parsed{"", "GET", "/a", "", "", "", "", "", 0}},
		{"W3C, a comment", "w3c", "#Remark: hello", isOther, parsed{}},

		{"CloudFront", "cloudfront", cloud + fmt.Sprintf(cloudLine, "x/1%20(+https://x.example)", "b=%2520c"), isRequest,
			parsed{when, "GET", "/a?b=%2520c", "example.com", "", "https", "x/1 (+https://x.example)", "192.0.2.1", 200}},
		{"CloudFront, encoded twice", "cloudfront", cloud + fmt.Sprintf(cloudLine, "x/1%2520y", "-"), isRequest,
			parsed{when, "GET", "/a", "example.com", "", "https", "x/1 y", "192.0.2.1", 200}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := ParseFormat(tc.format)
			if err != nil {
				t.Fatal(err)
			}
			p := f.parser()
			lines := strings.Split(tc.line, "\n")
			var r record
			for _, line := range lines[:len(lines)-1] {
				if what, _ := p.parse([]byte(line), &r); what != isOther {
					t.Fatalf("%q is %d", line, what)
				}
			}
			what, why := p.parse([]byte(lines[len(lines)-1]), &r)
			if what != tc.what || (why != "") != (what == isMalformed) {
				t.Fatalf("outcome %d (%s), want %d", what, why, tc.what)
			}
			if got := r.parsed(); what == isRequest && got != tc.want {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
			if f.w3c || tc.what != isRequest {
				return
			}
			if found := recognise([]byte(tc.line)); found != nil && found.layout == nil && found.Name != f.Name {
				t.Errorf("recognised as %s", found.Name)
			}
		})
	}
}

func TestParseFormatErrors(t *testing.T) {
	for _, tc := range []struct{ format, want string }{
		{"combine", "is no log format; name one of caddy, cloudflare, cloudfront, combined"},
		{"$remote_addr$status $request", "nothing stands between $status"},
		{"$ $request", "a $ without a name"},
		{"$status", "it has no request"},
		{"$uri $status", "it has no request"},
		{"%h %U%q", "nothing stands between %q"},
		{"%h %U %s", "it has no request"},
		{"%{", "a { has no }"},
		{"%{x}", "ends within a directive"},
		{`%{%c}t "%r"`, "%{%c}t is not understood"},
	} {
		_, err := ParseFormat(tc.format)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.format, err, tc.want)
		}
	}
}

func TestRecognise(t *testing.T) {
	for _, tc := range []struct{ name, head, want string }{
		{"combined", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"`, "combined"},
		{"combined with a user of two words", `192.0.2.1 - a b [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"` + "\n" +
			`192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"`, "combined"},
		{"common", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`, "common"},
		{"a server before it", `a.example 192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"`, "host_combined"},
		{"a server and its port before it", `a.example:80 192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"`, "vhost_combined"},
		{"the same for common", `a.example:80 192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`, "vhost_common"},
		{"lines of something else among them", "cut off\r\n" + strings.Repeat(`192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"`+"\r\n", 3), "combined"},
		{"messages of Caddy before the first request", `{"level":"info","ts":1,"msg":"x"}`, "caddy"},
		{"CloudFront", "#Version: 1.0\n#Fields: date time x-edge-location c-ip\n", "cloudfront"},
		{"IIS", "#Software: x\n#Version: 1.0\n#Date: 2026-11-21 00:00:00\n#Fields: date time s-ip\n", "w3c"},
		{"prose", "Lorem ipsum dolor sit amet\n", ""},
		{"JSON of another kind", "[1,2]\n", ""},
		{"nothing", "\n\n", ""},
	} {
		name := ""
		if f := recognise([]byte(tc.head)); f != nil {
			name = f.Name
		}
		if name != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, name, tc.want)
		}
	}
}

// FuzzLine feeds every parser: no line makes one panic, keep anything or claim
// more than there is.
func FuzzLine(f *testing.F) {
	for _, line := range []string{
		`192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a\x22 HTTP/1.1" 200 5 "-" "x\"y"`,
		`a.example:80 192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"`,
		`{"ts":1795275413.5,"request":{"uri":"/a","method":"GET","headers":{"User-Agent":["x\u0022"]}},"status":200}`,
		`{"ClientRequestURI":"/a?b","EdgeStartTimestamp":"2026-11-21T15:36:53Z"}`,
		"2026-11-21 15:36:53 192.0.2.1 GET /a b Mozilla/5.0+(x;++http://x) 200",
		"2026-11-21\t15:36:53\t192.0.2.1\tGET\t/a\tb%20\tx%2520y\t200",
		"#Fields: date time", `"\`, "{\"a\":\"\\", "1795275413.712\t/a",
	} {
		f.Add([]byte(line))
	}
	formats := append([]*Format(nil), knownFormats...)
	for _, name := range []string{"w3c", "cloudfront", "$msec\t$request_uri", `%{sec}t "%r" %{Host}i "%{User-Agent}i"`} {
		format, err := ParseFormat(name)
		if err != nil {
			f.Fatal(err)
		}
		formats = append(formats, format)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, format := range formats {
			p := format.parser()
			if w3c, ok := p.(*w3cParser); ok {
				w3c.directive([]byte("#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query cs(User-Agent) sc-status"))
			}
			var r record
			before := string(line)
			what, why := p.parse(line, &r)
			if (why != "") != (what == isMalformed) {
				t.Fatalf("%s: outcome %d, %q", format.Name, what, why)
			}
			for _, part := range [][]byte{r.method, r.target, r.host, r.port, r.userAgent, r.client} {
				if len(part) > len(line)+1 {
					t.Fatalf("%s: %q is longer than the line", format.Name, part)
				}
			}
			if what == isRequest && len(r.target) > 0 && r.target[0] != '/' && !strings.Contains(string(r.target), "://") {
				t.Fatalf("%s: target %q", format.Name, r.target)
			}
			if string(line) != before {
				t.Fatalf("%s changed the line", format.Name)
			}
			first := r.parsed()
			if again, _ := p.parse(line, &r); again != what || what == isRequest && r.parsed() != first {
				t.Fatalf("%s: another result the second time", format.Name)
			}
		}
	})
}

// FuzzJSON compares the cursor with encoding/json: what that takes for a
// Cloudflare record is read the same.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"ClientRequestURI":"/a\u00fc\ud83d\ude00\n\"","ClientRequestUserAgent":"x","a":[{"b":"]}"}],"c":null,"d":1e5}`))
	f.Add([]byte(` { "ClientRequestURI" : "/\/" } `))
	f.Fuzz(func(t *testing.T, line []byte) {
		var want struct {
			URI   *string `json:"ClientRequestURI"`
			Agent *string `json:"ClientRequestUserAgent"`
		}
		if json.Unmarshal(line, &want) != nil || want.URI == nil || want.Agent == nil || len(*want.URI) == 0 || (*want.URI)[0] != '/' {
			return
		}
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(line, &fields)
		if fields["ClientRequestURI"] == nil || fields["ClientRequestUserAgent"] == nil || fields["EdgeStartTimestamp"] != nil {
			return // keys in another case, which encoding/json takes
		}
		for key := range fields {
			if key != "ClientRequestURI" && strings.EqualFold(key, "ClientRequestURI") || key != "ClientRequestUserAgent" && strings.EqualFold(key, "ClientRequestUserAgent") || strings.ContainsRune(key, '\ufffd') {
				return
			}
		}
		if bytes.Count(line, []byte(`"ClientRequestURI"`)) != 1 || bytes.Count(line, []byte(`"ClientRequestUserAgent"`)) != 1 || escapedKey(line) {
			return
		}
		var p cloudflareParser
		var r record
		what, why := p.parse(line, &r)
		if what != isRequest {
			t.Fatalf("%q: %d, %s", line, what, why)
		}
		if got := replaced(string(r.target)); got != *want.URI {
			t.Errorf("%q: target %q, want %q", line, got, *want.URI)
		}
		if got := replaced(string(r.userAgent)); got != *want.Agent && *want.Agent != "" {
			t.Errorf("%q: User-Agent %q, want %q", line, got, *want.Agent)
		}
	})
}

// escapedKey reports whether a key of an object has escapes: here keys are
// compared as they are written.
func escapedKey(line []byte) bool {
	c := jsonCursor{b: line}
	c.object()
	for {
		key, more, ok := c.key()
		if !more || !ok {
			return false
		}
		if bytes.IndexByte(key, '\\') >= 0 {
			return true
		}
		c.value()
	}
}
