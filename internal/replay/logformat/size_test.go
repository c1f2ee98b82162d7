package logformat

import "testing"

// TestSizes parses the response size in all formats that have sizes.
func TestSizes(t *testing.T) {
	for _, tc := range []struct {
		format, line string
		size         int64
	}{
		{"combined", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 1234 "https://chatgpt.com/" "x/1"`, 1234},
		{"combined", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 304 - "-" "x/1"`, 0},
		{"combined", `192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 99999999999999999999 "\"\" x" "x/1"`, 0},
		{"host_combined", `a.example:80 192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 7 "https://claude.ai/" "x/1"`, 7},
		{"nginx", `{"request_uri":"/a","status":"200","bytes_sent":"56","http_referer":"https://claude.ai/","ua":"x/1"}`, 56},
		{"traefik", `{"RequestPath":"/a","DownstreamContentSize":57,"request_Referer":"https://claude.ai/","request_User-Agent":"x/1"}`, 57},
		{"caddy", `{"ts":1795275413,"logger":"http.log.access","request":{"method":"GET","uri":"/a","headers":{"Referer":["https://claude.ai/","b"],"User-Agent":["x/1"]}},"size":8,"status":200}`, 8},
		{"caddy", `{"ts":1795275413,"request":{"method":"GET","uri":"/a","headers":{"Referer":[],"User-Agent":["x/1"]}},"status":200}`, 0},
		{"caddy", `{"ts":1795275413,"request":{"method":"GET","uri":"/a","headers":{"Referer":{"a":["b"]},"User-Agent":["x/1"]}},"status":200}`, 0},
	} {
		var r Record
		if what, why := formatOf(tc.format).NewParser().Parse([]byte(tc.line), &r); what != Request {
			t.Errorf("%s: %s", tc.line, why)
			continue
		}
		if r.Bytes != tc.size || string(r.UserAgent) != "x/1" {
			t.Errorf("%s: %d bytes, by %q; want %d", tc.line, r.Bytes, r.UserAgent, tc.size)
		}
	}
}
