package logformat

import (
	"fmt"
	"slices"
	"strings"
)

// Format is a format of access logs.
type Format struct {
	// Name is one of [Names], or the format string.
	Name   string
	layout *layout // nil for those that are not laid out by a format string
	w3c    bool
	agent  bool // whether the lines have a User-Agent
	timed  bool // whether they have a time
}

// HasUserAgent reports whether the lines have a place for the User-Agent.
func (f *Format) HasUserAgent() bool { return f.agent }

// HasTime reports whether the lines have a place for the time of the request.
func (f *Format) HasTime() bool { return f.timed }

// The formats that have a name. The layouts of Common and Combined are those of
// Apache and nginx; vhost_combined is Apache's with the server in front, with or
// without its port.
const (
	formatCaddy      = "caddy"
	formatCloudflare = "cloudflare"
	formatW3C        = "w3c"
	formatCloudFront = "cloudfront"
)

// laidOut lists the named layouts in the order in which they are tried.
var laidOut = []struct{ name, format string }{
	{"vhost_combined", `%v:%p %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i"`},
	{"host_combined", `%v %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i"`},
	{"combined", `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`},
	{"vhost_common", `%v:%p %h %l %u %t "%r" %>s %b`},
	{"host_common", `%v %h %l %u %t "%r" %>s %b`},
	{"common", `%h %l %u %t "%r" %>s %b`},
}

// Names returns the names that [Parse] knows, sorted.
func Names() []string {
	names := []string{formatCaddy, formatCloudflare, formatW3C, formatCloudFront}
	for _, l := range laidOut {
		names = append(names, l.name)
	}
	slices.Sort(names)
	return names
}

// Parse returns the format of a name or of a format string, which is that
// of an nginx log_format, such as
//
//	$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"
//
// or of an Apache LogFormat, such as
//
//	%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"
//
// What follows the last field of a line is ignored. The error says what is
// missing or cannot be told from what is logged.
func Parse(s string) (*Format, error) {
	switch s {
	case formatCaddy, formatCloudflare:
		return &Format{Name: s, agent: true, timed: true}, nil
	case formatW3C, formatCloudFront:
		return &Format{Name: s, w3c: true, agent: true, timed: true}, nil
	}
	text := s
	for _, l := range laidOut {
		if l.name == s {
			text = l.format
		}
	}
	if !strings.ContainsAny(text, "$%") {
		return nil, fmt.Errorf("%q is no log format; name one of %s, or give a format string of nginx or Apache", s, strings.Join(Names(), ", "))
	}
	l, err := parseLayout(text)
	if err != nil {
		return nil, fmt.Errorf("the log format %q cannot be used: %w", s, err)
	}
	return &Format{Name: s, layout: l, agent: l.has(agentField), timed: l.has(timeField)}, nil
}

// Parser returns a new parser.
func (f *Format) Parser() Parser {
	switch {
	case f.layout != nil:
		return &layoutParser{layout: f.layout}
	case f.w3c:
		return &w3cParser{cloudfront: f.Name == formatCloudFront}
	case f.Name == formatCloudflare:
		return new(cloudflareParser)
	}
	return new(caddyParser)
}

// TrimEnd takes the end of a line off.
func TrimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}
