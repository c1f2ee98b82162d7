package logformat

import (
	"strings"
	"testing"
)

func TestRecognise(t *testing.T) {
	const line = `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5`
	const nginx = `"request_uri":"/a","status":200`
	for _, tc := range []struct{ name, head, want, err string }{
		{"combined", line + ` "-" "x"`, "combined", ""},
		{"combined with more after it", line + ` "-" "x" "198.51.100.1"`, "combined", ""},
		{"combined with a user of two words", strings.Replace(line, "- -", "- a b", 1) + ` "-" "x"` + "\n" + line + ` "-" "x"`, "combined", ""},
		{"common", line, "common", ""},
		{"a server before it", "a.example " + line + ` "-" "x"`, "host_combined", ""},
		{"a server and its port before it", "a.example:80 " + line + ` "-" "x"`, "host_combined", ""},
		{"the same for common", "a.example:80 " + line, "host_common", ""},
		{"lines of something else among them", "cut off\r\n" + strings.Repeat(line+` "-" "x"`+"\r\n", 3), "combined", ""},
		{"Caddy", `{"ts":1795275413,"request":{"uri":"/a"},"status":200}`, "caddy", ""},
		{"messages of Caddy before the first request", `{"level":"info","ts":1,"msg":"x"}`, "caddy", ""},
		{"nginx", "{" + nginx + `,"http_user_agent":"-"}`, "nginx", ""},
		{"nginx without the User-Agent", "{" + nginx + "}", "", `no line has a key for the User-Agent, so no crawler can be recognised; add "http_user_agent"`},
		{"Traefik", `{"RequestPath":"/a","DownstreamStatus":200,"request_User-Agent":"x"}` + "\n" + `{"RequestPath":"/a","DownstreamStatus":200}`, "traefik", ""},
		{"Traefik without the header", `{"RequestPath":"/a","DownstreamStatus":200}`, "", "accessLog.fields.headers.names.User-Agent: keep"},
		{"JSON of nginx after ten lines of Caddy's messages", strings.Repeat(`{"level":"info","ts":1,"msg":"x"}`+"\n", 3) + strings.Repeat("{"+nginx+`,"ua":"x"}`+"\n", 10), "nginx", ""},
		{"CloudFront", "#Version: 1.0\n#Fields: date time x-edge-location c-ip\n", "", "line 1: a W3C extended log (IIS, CloudFront); audit reads Combined, Common, and the JSON of Caddy, nginx and Traefik; convert it to Combined first: \"#Version: 1.0\""},
		{"Cloudflare", `{"ClientRequestURI":"/a"}`, "", `line 1: a JSON object without a request; expected "request" (Caddy), "request_uri"`},
		{"messages of another program", `{"time":"2026-11-21T15:36:53Z","level":"INFO","msg":"request"}`, "", "a JSON object without a request"},
		{"Caddy's console format", "2026/11/21 15:36:53.000\tinfo\thttp.log.access.log0\thandled request\t{}", "", "Caddy's console format; write the log with format json"},
		{"no referer", line + ` "x"`, "", "Common with other fields after the size"},
		{"prose", "\n\nLorem ipsum dolor sit amet\n", "", "line 3: no known log format; audit reads Combined"},
		{"an array", "[1,2]\n", "", "no known log format"},
		{"nothing", "\n\n", "", "it has no line"},
	} {
		f, err := Recognise([]byte(tc.head))
		switch {
		case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
			t.Errorf("%s: %v, want %s", tc.name, err, tc.err)
		case tc.err == "" && (err != nil || f.Name != tc.want):
			t.Errorf("%s: %v, %v, want %s", tc.name, f, err, tc.want)
		}
	}
}
