package replay

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Format is a format of access logs.
type Format struct {
	// Name is one of [FormatNames], or the format string.
	Name   string
	layout *layout // nil for those that are not laid out by a format string
	w3c    bool
	agent  bool // whether the lines have a User-Agent
	timed  bool // whether they have a time
}

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

// FormatNames returns the names that [ParseFormat] knows, sorted.
func FormatNames() []string {
	names := []string{formatCaddy, formatCloudflare, formatW3C, formatCloudFront}
	for _, l := range laidOut {
		names = append(names, l.name)
	}
	slices.Sort(names)
	return names
}

// ParseFormat returns the format of a name or of a format string, which is that
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
func ParseFormat(s string) (*Format, error) {
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
		return nil, fmt.Errorf("%q is no log format; name one of %s, or give a format string of nginx or Apache", s, strings.Join(FormatNames(), ", "))
	}
	l, err := parseLayout(text)
	if err != nil {
		return nil, fmt.Errorf("the log format %q cannot be used: %w", s, err)
	}
	return &Format{Name: s, layout: l, agent: l.has(agentField), timed: l.has(timeField)}, nil
}

// parser returns a new parser.
func (f *Format) parser() parser {
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

// knownFormats are the formats that recognise tries.
var knownFormats = func() []*Format {
	names := []string{formatCaddy, formatCloudflare}
	for _, l := range laidOut {
		names = append(names, l.name)
	}
	formats := make([]*Format, len(names))
	for i, name := range names {
		f, err := ParseFormat(name)
		if err != nil {
			panic(err)
		}
		formats[i] = f
	}
	return formats
}()

// sampleLines is how many lines decide which format a log has.
const sampleLines = 200

// recognise tells the format of a log by its first lines: the one in which most
// of them can be read. It returns nil if it is none of those known.
func recognise(head []byte) *Format {
	var lines [][]byte
	for line := range bytes.Lines(head) {
		if len(lines) == sampleLines {
			break
		}
		if line = trimEnd(line); len(line) > 0 {
			lines = append(lines, line)
		}
	}
	for _, line := range lines {
		if fields, ok := bytes.CutPrefix(line, []byte(w3cFieldsPrefix)); ok {
			name := formatW3C
			if bytes.Contains(fields, []byte("x-edge-")) {
				name = formatCloudFront
			}
			f, _ := ParseFormat(name)
			return f
		}
		if line[0] != '#' {
			break
		}
	}
	var best *Format
	most := 0
	for _, f := range knownFormats {
		p := f.parser()
		if l, ok := p.(*layoutParser); ok {
			l.strict = true
		}
		n := 0
		var r record
		for _, line := range lines {
			if what, _ := p.parse(line, &r); what == isRequest && plausible(f, &r) {
				n++
			}
		}
		if n > most {
			most, best = n, f
		}
	}
	switch {
	case most > 0 && most*10 >= len(lines):
		return best
	case allOther(lines):
		return knownFormats[0] // what Caddy says before the first request
	}
	return nil
}

// allOther reports whether all lines are messages in JSON.
func allOther(lines [][]byte) bool {
	var p caddyParser
	var r record
	for _, line := range lines {
		if what, _ := p.parse(line, &r); what != isOther {
			return false
		}
	}
	return len(lines) > 0
}

// plausible reports whether a record makes sense in a format that was not
// named: a host is not mistaken for an address, nor the other way round.
func plausible(f *Format, r *record) bool {
	return f.layout == nil || !f.layout.has(hostField) || len(r.client) > 0 && !bytes.Equal(r.client, []byte("-"))
}

// trimEnd takes the end of a line off.
func trimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// isBinary reports whether the start of a file cannot be that of a log.
func isBinary(head []byte) bool {
	if len(head) > 4096 {
		head = head[:4096]
	}
	return bytes.IndexByte(head, 0) >= 0
}
