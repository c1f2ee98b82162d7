package logformat

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// parsed is a record as strings.
type parsed struct {
	at, method, target, host, port, scheme, userAgent, client string
	status                                                    int
}

func (r *Record) parsed() parsed {
	p := parsed{"", string(r.Method), string(r.Target), string(r.Host), string(r.Port), string(r.Scheme), string(r.UserAgent), string(r.Client), r.Status}
	if r.HasTime {
		p.at = timeOf(r.At).Format(time.RFC3339Nano)
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
		what               Outcome
		want               parsed
	}{
		{"common", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`, Request,
			parsed{when, "GET", "/a", "", "", "", "", "192.0.2.1", 200}},
		{"a user who has spaces", common, `192.0.2.1 - john doe [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`, Request,
			parsed{when, "GET", "/a", "", "", "", "", "192.0.2.1", 200}},
		{"a user who looks like a time", common, `192.0.2.1 - x [99/Nov/2026:15:36:53 +0000] [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`, Request,
			parsed{when, "GET", "/a", "", "", "", "", "192.0.2.1", 200}},
		{"HTTP/0.9", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a" 200 5`, Request,
			parsed{when, "GET", "/a", "", "", "", "", "192.0.2.1", 200}},
		{"no request", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "-" 408 -`, Request,
			parsed{when, "", "", "", "", "", "", "192.0.2.1", 408}},
		{"CONNECT", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "CONNECT a.example:443 HTTP/1.1" 405 -`, Request,
			parsed{when, "CONNECT", "", "", "", "", "", "192.0.2.1", 405}},
		{"OPTIONS *", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "OPTIONS * HTTP/1.1" 200 -`, Request,
			parsed{when, "OPTIONS", "", "", "", "", "", "192.0.2.1", 200}},
		{"absolute form", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET HTTPS://u@A.example:81/a?b HTTP/1.1" 200 5`, Request,
			parsed{when, "GET", "HTTPS://u@A.example:81/a?b", "A.example:81", "", "HTTPS", "", "192.0.2.1", 200}},
		{"cut off", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HT`, Malformed, parsed{}},
		{"no time", common, `192.0.2.1 - - [-] "GET /a HTTP/1.1" 200 5`, Malformed, parsed{}},
		{"no status", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" abc 5`, Malformed, parsed{}},
		{"empty", common, ``, Other, parsed{}},
		{"a quote that a backslash escapes at the end", common, `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a\" HTTP/1.1\\" 200 5`, Request,
			parsed{when, "GET", `/a"`, "", "", "", "", "192.0.2.1", 200}},
		{"IPv6 host and port", `%v:%p %h %l %u %t "%r" %>s %b`, `[2001:db8::1]:443 2001:db8::2 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`, Request,
			parsed{when, "GET", "/a", "[2001:db8::1]", "443", "", "", "2001:db8::2", 200}},
		{"nginx variables", `$msec $scheme $host $request_method $request_uri $status ${remote_addr}`, `1795275413.000 https a.example GET /a?b 200 192.0.2.1`, Request,
			parsed{when, "GET", "/a?b", "a.example", "", "https", "", "192.0.2.1", 200}},

		{"caddy", "caddy", `{"ts":1795275413,"logger":"http.log.access.log0","request":{"remote_ip":"192.0.2.9","client_ip":"192.0.2.1","method":"GET","host":"a.example:8443","uri":"/a?\u0022","headers":{"Accept":["*/*"],"User-Agent":["x\/1 \"y\"","z"]},"tls":{"resumed":false}},"status":200}`, Request,
			parsed{when, "GET", `/a?"`, "a.example:8443", "", "https", `x/1 "y", z`, "192.0.2.1", 200}},
		{"caddy with another time format and white space", "caddy", ` { "status" : 200 , "request" : { "uri" : "/a" , "method":"GET","headers" : { } } , "ts" : "2026-11-21T15:36:53.000Z" } `, Request,
			parsed{when, "GET", "/a", "", "", "http", "", "", 200}},
		{"caddy without the header", "caddy", `{"ts":1795275413,"request":{"method":"GET","host":"a","uri":"/a","headers":null},"status":200}`, Request,
			parsed{when, "GET", "/a", "a", "", "http", "", "", 200}},
		{"caddy, another message", "caddy", `{"level":"info","ts":1795275413,"logger":"tls","msg":"x"}`, Other, parsed{}},
		{"caddy, an error about a request that is logged, too", "caddy", `{"level":"error","ts":1795275413,"logger":"http.log.error","msg":"x","request":{"method":"GET","uri":"/a"},"status":500}`, Other, parsed{}},
		{"caddy, cut off", "caddy", `{"ts":1795275413,"request":{"method":"GET","uri":"/a`, Malformed, parsed{}},
		{"caddy, two on a line", "caddy", `{"ts":1795275413,"request":{"method":"GET","uri":"/a"},"status":200}{"ts":1}`, Malformed, parsed{}},
		{"caddy, no object", "caddy", `GET /`, Malformed, parsed{}},
		{"caddy, a bad time", "caddy", `{"ts":"yesterday","request":{"method":"GET","uri":"/a"},"status":200}`, Malformed, parsed{}},

		{"cloudflare", "cloudflare", `{"ClientIP":"192.0.2.1","ClientRequestHost":"a.example","ClientRequestMethod":"GET","ClientRequestURI":"/a?b","ClientRequestScheme":"https","ClientRequestUserAgent":"x/1","EdgeResponseStatus":200,"EdgeStartTimestamp":"2026-11-21T15:36:53Z","More":{"a":[1,"}"]}}`, Request,
			parsed{when, "GET", "/a?b", "a.example", "", "https", "x/1", "192.0.2.1", 200}},
		{"cloudflare, nanoseconds", "cloudflare", `{"ClientRequestURI":"/a","EdgeStartTimestamp":1795275413000000000}`, Request,
			parsed{when, "", "/a", "", "", "", "", "", 0}},
		{"cloudflare without the field", "cloudflare", `{"ClientRequestPath":"/a"}`, Malformed, parsed{}},

		{"IIS", "w3c", iis + "2026-11-21 15:36:53 10.0.0.1 GET /a/b.aspx x=1 443 - 192.0.2.1 Mozilla/5.0+(compatible;+bingbot/2.0;++http://www.bing.com/bingbot.htm) - a.example 200", Request,
			parsed{when, "GET", "/a/b.aspx?x=1", "a.example", "443", "", "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "192.0.2.1", 200}},
		{"IIS without a query and a User-Agent", "w3c", iis + "2026-11-21 15:36:53 10.0.0.1 GET / - 80 - 192.0.2.1 - - - 200", Request,
			parsed{when, "GET", "/", "", "80", "", "", "192.0.2.1", 200}},
		{"IIS, a field less", "w3c", iis + "2026-11-21 15:36:53 10.0.0.1 GET /", Malformed, parsed{}},
		{"IIS, a field more", "w3c", iis + "2026-11-21 15:36:53 10.0.0.1 GET / - 80 - 192.0.2.1 - - - 200 x", Malformed, parsed{}},
		{"W3C, the date above", "w3c", "#Date: 2026-11-21 00:00:00\n#Fields: time cs-method cs-uri\n15:36:53 GET /a?b", Request,
			parsed{when, "GET", "/a?b", "", "", "", "", "", 0}},
		{"W3C, no fields", "w3c", "15:36:53 GET /a?b", Malformed, parsed{}},
		{"W3C, other fields from here on", "w3c", iis + "#Fields: cs-method cs-uri-stem\nGET /a", Request, parsed{"", "GET", "/a", "", "", "", "", "", 0}},
		{"W3C, a comment", "w3c", "#Remark: hello", Other, parsed{}},

		{"CloudFront", "cloudfront", cloud + fmt.Sprintf(cloudLine, "x/1%20(+https://x.example)", "b=%2520c"), Request,
			parsed{when, "GET", "/a?b=%2520c", "example.com", "", "https", "x/1 (+https://x.example)", "192.0.2.1", 200}},
		{"CloudFront, encoded twice", "cloudfront", cloud + fmt.Sprintf(cloudLine, "x/1%2520y", "-"), Request,
			parsed{when, "GET", "/a", "example.com", "", "https", "x/1 y", "192.0.2.1", 200}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := Parse(tc.format)
			if err != nil {
				t.Fatal(err)
			}
			p := f.Parser()
			lines := strings.Split(tc.line, "\n")
			var r Record
			for _, line := range lines[:len(lines)-1] {
				if what, _ := p.Parse([]byte(line), &r); what != Other {
					t.Fatalf("%q is %d", line, what)
				}
			}
			what, why := p.Parse([]byte(lines[len(lines)-1]), &r)
			if what != tc.what || (why != "") != (what == Malformed) {
				t.Fatalf("outcome %d (%s), want %d", what, why, tc.what)
			}
			if got := r.parsed(); what == Request && got != tc.want {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
			if f.w3c || tc.what != Request {
				return
			}
			if found := Recognise([]byte(tc.line)); found != nil && found.layout == nil && found.Name != f.Name {
				t.Errorf("recognised as %s", found.Name)
			}
		})
	}
}
