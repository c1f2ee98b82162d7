package logformat

import (
	"strings"
	"testing"
)

func TestParseErrors(t *testing.T) {
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
		_, err := Parse(tc.format)
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
		if f := Recognise([]byte(tc.head)); f != nil {
			name = f.Name
		}
		if name != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, name, tc.want)
		}
	}
}
