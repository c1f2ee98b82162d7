package logformat

import (
	"slices"
	"testing"
	"time"
)

// parsed is a record with strings.
type parsed struct {
	at, method, target, host, userAgent, client string
	status                                      int
}

func (r *Record) parsed() parsed {
	p := parsed{"", string(r.Method), string(r.Target), string(r.Host), string(r.UserAgent), string(r.Client), r.Status}
	if r.HasTime {
		p.at = timeOf(r.At).Format(time.RFC3339Nano)
	}
	return p
}

const when = "2026-11-21T15:36:53Z"

func TestLines(t *testing.T) {
	for _, tc := range []struct {
		name, format, line string
		what               Outcome
		want               parsed
	}{
		{"common", "common", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`, Request, parsed{when, "GET", "/a", "", "", "192.0.2.1", 200}},
		{"a user who has spaces", "common", `192.0.2.1 - john doe [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`, Request, parsed{when, "GET", "/a", "", "", "192.0.2.1", 200}},
		{"a user who looks like a time", "common", `192.0.2.1 - x [99/Nov/2026:15:36:53 +0000] [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`, Request, parsed{when, "GET", "/a", "", "", "192.0.2.1", 200}},
		{"HTTP/0.9", "common", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a" 200 5`, Request, parsed{when, "GET", "/a", "", "", "192.0.2.1", 200}},
		{"no request", "common", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "-" 408 -`, Request, parsed{when, "", "", "", "", "192.0.2.1", 408}},
		{"CONNECT", "common", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "CONNECT a.example:443 HTTP/1.1" 405 -`, Request, parsed{when, "CONNECT", "", "", "", "192.0.2.1", 405}},
		{"OPTIONS *", "common", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "OPTIONS * HTTP/1.1" 200 -`, Request, parsed{when, "OPTIONS", "", "", "", "192.0.2.1", 200}},
		{"absolute form", "common", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET HTTPS://u@A.example:81/a?b HTTP/1.1" 200 5`, Request, parsed{when, "GET", "HTTPS://u@A.example:81/a?b", "A.example:81", "", "192.0.2.1", 200}},
		{"cut off", "common", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HT`, Malformed, parsed{}},
		{"no time", "common", `192.0.2.1 - - [-] "GET /a HTTP/1.1" 200 5`, Malformed, parsed{}},
		{"no status", "common", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" abc 5`, Malformed, parsed{}},
		{"empty", "common", ``, Other, parsed{}},
		{"a quote that a backslash escapes at the end", "common", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a\" HTTP/1.1\\" 200 5`, Request, parsed{when, "GET", `/a"`, "", "", "192.0.2.1", 200}},
		{"IPv6 host and port", "host_common", `[2001:db8::1]:443 2001:db8::2 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`, Request, parsed{when, "GET", "/a", "[2001:db8::1]:443", "", "2001:db8::2", 200}},
		{"caddy", "caddy", `{"ts":1795275413,"logger":"http.log.access.log0","request":{"remote_ip":"192.0.2.9","client_ip":"192.0.2.1","method":"GET","host":"a.example:8443","uri":"/a?\u0022","headers":{"Accept":["*/*"],"User-Agent":["x\/1 \"y\"","z"]},"tls":{"resumed":false}},"status":200}`, Request, parsed{when, "GET", `/a?"`, "a.example:8443", `x/1 "y", z`, "192.0.2.1", 200}},
		{"caddy with another time format and white space", "caddy", ` { "status" : 200 , "request" : { "uri" : "/a" , "method":"GET","headers" : { } } , "ts" : "2026-11-21T15:36:53.000Z" } `, Request, parsed{when, "GET", "/a", "", "", "", 200}},
		{"caddy without the header", "caddy", `{"ts":1795275413,"request":{"method":"GET","host":"a","uri":"/a","headers":null},"status":200}`, Request, parsed{when, "GET", "/a", "a", "", "", 200}},
		{"caddy, another message", "caddy", `{"level":"info","ts":1795275413,"logger":"tls","msg":"x"}`, Other, parsed{}},
		{"caddy, an error about a request that is logged, too", "caddy", `{"level":"error","ts":1795275413,"logger":"http.log.error","msg":"x","request":{"method":"GET","uri":"/a"},"status":500}`, Other, parsed{}},
		{"caddy, cut off", "caddy", `{"ts":1795275413,"request":{"method":"GET","uri":"/a`, Malformed, parsed{}},
		{"caddy, two on a line", "caddy", `{"ts":1795275413,"request":{"method":"GET","uri":"/a"},"status":200}{"ts":1}`, Malformed, parsed{}},
		{"caddy, no object", "caddy", `GET /`, Malformed, parsed{}},
		{"caddy, a bad time", "caddy", `{"ts":"yesterday","request":{"method":"GET","uri":"/a"},"status":200}`, Malformed, parsed{}},
		{"combined", "combined", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5 "-" "x/1 \"y\"" "198.51.100.1" 0.002`, Request, parsed{when, "GET", "/a", "", `x/1 "y"`, "192.0.2.1", 200}},
		{"combined without a User-Agent", "combined", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5 "-" "-"`, Request, parsed{when, "GET", "/a", "", "", "192.0.2.1", 200}},
		{"combined, nginx sent no status", "combined", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 000 0 "-" "x"`, Request, parsed{when, "GET", "/a", "", "x", "192.0.2.1", 0}},
		{"combined, cut off in the User-Agent", "combined", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5 "-" "x`, Malformed, parsed{}},
		{"combined without its last fields", "combined", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`, Malformed, parsed{}},
		{"common with more fields", "common", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5 0.002`, Malformed, parsed{}},
		{"no size", "common", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200`, Malformed, parsed{}},
		{"no ident", "common", `192.0.2.1 - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`, Malformed, parsed{}},
		{"a host before it", "host_combined", `a.example 192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"`, Request, parsed{when, "GET", "/a", "a.example", "x", "192.0.2.1", 200}},
		{"no host", "host_combined", `- 192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"`, Request, parsed{when, "GET", "/a", "", "x", "192.0.2.1", 200}},

		{"nginx, named like its variables", "nginx", `{"time_local":"21/Nov/2026:15:36:53 +0000","remote_addr":"192.0.2.1","host":"a.example","request":"GET /a?b HTTP/2.0","status":"200","body_bytes_sent":"5","http_referer":"-","http_user_agent":"x\/1"}`, Request, parsed{when, "GET", "/a?b", "a.example", "x/1", "192.0.2.1", 200}},
		{"nginx, a number as the status", "nginx", `{"msec":1795275413.000,"http_host":"a.example","request_method":"GET","request_uri":"/a%2Fb?c","uri":"/a/b","status":200,"scheme":"https","http_user_agent":""}`, Request, parsed{when, "GET", "/a%2Fb?c", "a.example", "", "", 200}},
		{"nginx, shorter names", "nginx", `{"@timestamp":"2026-11-21T15:36:53+00:00","client":"192.0.2.1","vhost":"a.example","method":"GET","uri":"/a","ua":"x"}`, Request, parsed{when, "GET", "/a", "a.example", "x", "192.0.2.1", 0}},
		{"nginx, the name of the virtual server before the host", "nginx", `{"time":"2026-11-21T15:36:53Z","server_name":"_","host":"a.example","request_uri":"/a","ua":"x"}`, Request, parsed{when, "", "/a", "a.example", "x", "", 0}},
		{"nginx, only the name of the virtual server", "nginx", `{"time":"2026-11-21T15:36:53Z","server_name":"a.example","request_uri":"/a","ua":"x"}`, Request, parsed{when, "", "/a", "a.example", "x", "", 0}},
		{"nginx, a virtual server for any host", "nginx", `{"time":"2026-11-21T15:36:53Z","server_name":"_","request_uri":"/a","ua":"x"}`, Request, parsed{when, "", "/a", "", "x", "", 0}},
		{"nginx, no request was read", "nginx", `{"time_iso8601":"2026-11-21T15:36:53+00:00","request_method":"-","request_uri":"-","status":400,"http_user_agent":"-"}`, Request, parsed{when, "", "", "", "", "", 400}},
		{"nginx, only a decoded path", "nginx", `{"time":"2026-11-21T15:36:53Z","path":"/a","status":200}`, Malformed, parsed{}},
		{"traefik", "traefik", `{"ClientAddr":"192.0.2.1:5","ClientHost":"192.0.2.1","DownstreamContentSize":5,"DownstreamStatus":200,"OriginStatus":500,"RequestAddr":"a.example","RequestHost":"a.example","RequestMethod":"GET","RequestPath":"/a?b","RequestPort":"-","RequestScheme":"https","StartLocal":"2026-11-21T16:36:53+01:00","StartUTC":"2026-11-21T15:36:53Z","level":"info","msg":"","request_User-Agent":"x/1","time":"2026-11-21T15:36:54Z"}`, Request, parsed{when, "GET", "/a?b", "a.example", "x/1", "192.0.2.1", 200}},
		{"traefik, a header that the client did not send", "traefik", `{"ClientHost":"192.0.2.1","DownstreamStatus":200,"RequestHost":"a.example","RequestMethod":"GET","RequestPath":"/a","StartUTC":"2026-11-21T15:36:53.5Z"}`, Request, parsed{"2026-11-21T15:36:53.5Z", "GET", "/a", "a.example", "", "192.0.2.1", 200}},
		{"another program's message", "caddy", `{"time":"2026-11-21T15:36:53Z","level":"INFO","msg":"request"}`, Malformed, parsed{}},
		{"an object without a request", "caddy", `{"ClientRequestURI":"/a","ClientRequestUserAgent":"x"}`, Malformed, parsed{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := formatOf(tc.format)
			p := f.NewParser()
			var r Record
			what, why := p.Parse([]byte(tc.line), &r)
			if what != tc.what || (why != "") != (what == Malformed) {
				t.Fatalf("outcome %d (%s), want %d", what, why, tc.what)
			}
			if got := r.parsed(); what == Request && got != tc.want {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
			if j, ok := p.(*jsonParser); ok && what == Request && jsonFormats[j.server] != f {
				t.Errorf("taken for a line of %s", jsonFormats[j.server].Name)
			}
		})
	}
}

// formatOf returns the format by name.
func formatOf(name string) *Format {
	for _, f := range slices.Concat(textFormats, jsonFormats[:]) {
		if f.Name == name {
			return f
		}
	}
	panic("no format " + name)
}
