// Package logformat parses the lines of access logs without allocating per line.
//
// [Recognise] finds the format of a log from its first lines: the Combined or the
// Common format, or the JSON of Caddy, nginx or Traefik. A [Parser] of the format
// turns each line into a [Record].
package logformat

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// Format is a format of access logs that this package can parse.
type Format struct {
	// Name is "combined", "common", "host_combined", "host_common", "caddy", "nginx" or "traefik".
	Name string
	// HasUserAgent is false for the Common formats, which have no User-Agent.
	HasUserAgent bool

	isJSON         bool
	startsWithHost bool // startsWithHost is true if the first field is the host, with or without a port.
}

var textFormats = []*Format{
	{Name: "combined", HasUserAgent: true},
	{Name: "host_combined", HasUserAgent: true, startsWithHost: true},
	{Name: "common"},
	{Name: "host_common", startsWithHost: true},
}

// jsonFormats are the JSON formats, indexed by server.
var jsonFormats = [...]*Format{
	caddyJSON:   {Name: "caddy", HasUserAgent: true, isJSON: true},
	nginxJSON:   {Name: "nginx", HasUserAgent: true, isJSON: true},
	traefikJSON: {Name: "traefik", HasUserAgent: true, isJSON: true},
}

// NewParser returns a parser for lines of the format.
func (f *Format) NewParser() Parser {
	if f.isJSON {
		return new(jsonParser)
	}
	return &textParser{Format: f}
}

// TrimLineEnd returns a line without its LF or CRLF.
func TrimLineEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
}

// These are bounds of the lines that Recognise reads, and of the line that its error quotes.
const (
	sampleLines      = 200 // sampleLines is the maximum number of lines that are not empty.
	quotedCharacters = 100
)

// Recognise returns the format of a log from its first lines: the format that most of them fit. If
// fewer than a tenth of the lines fit any format, the error has the first line, the problem and the
// fix.
func Recognise(head []byte) (*Format, error) {
	var lines [][]byte
	first := 0 // This is the number of the first line that is not empty.
	for line := range bytes.Lines(head) {
		if len(lines) == sampleLines {
			break
		}
		if len(lines) == 0 {
			first++
		}
		if line = TrimLineEnd(line); len(line) > 0 {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil, errors.New("it has no line")
	}
	best, most, err := recogniseJSON(lines)
	for _, f := range textFormats {
		p := textParser{Format: f, strict: true}
		var r Record
		n := 0
		for _, line := range lines {
			if what, _ := p.Parse(line, &r); what == Request {
				n++
			}
		}
		if n > most {
			best, most, err = f, n, nil
		}
	}
	if most*10 >= len(lines) && most > 0 {
		return best, err
	}
	return nil, fmt.Errorf("line %d: %s: %s", first, formatHint(lines[0]), text.Quote(string(lines[0]), quotedCharacters))
}

// recogniseJSON returns the JSON format that most of the lines fit, and the number of these lines.
// recogniseJSON returns an error if none of them has a User-Agent.
func recogniseJSON(lines [][]byte) (best *Format, most int, err error) {
	var p jsonParser
	var r Record
	requests, agents := make([]int, len(jsonFormats)), make([]int, len(jsonFormats))
	messages := 0
	for _, line := range lines {
		switch what, _ := p.Parse(line, &r); what {
		case Request:
			requests[p.server]++
			if p.hasUserAgent {
				agents[p.server]++
			}
		case Other:
			messages++
		}
	}
	server := caddyJSON
	for s, n := range requests {
		if n > requests[server] {
			server = jsonServer(s)
		}
	}
	if server == caddyJSON {
		requests[caddyJSON] += messages // Caddy writes messages into the same file.
	}
	if requests[server] > 0 && agents[server] == 0 {
		switch server {
		case traefikJSON:
			err = errors.New(`no line has a "request_User-Agent", so no crawler can be identified; configure Traefik to log the header: accessLog.fields.headers.names.User-Agent: keep`)
		case nginxJSON:
			err = errors.New(`no line has a key for the User-Agent, so no crawler can be recognised; add "http_user_agent":"$http_user_agent" to the log_format of nginx`)
		}
	}
	return jsonFormats[server], requests[server], err
}

const readable = "audit reads Combined, Common, and the JSON of Caddy, nginx and Traefik"

// formatHint returns why a line fits no format, and how to fix that.
func formatHint(line []byte) string {
	switch {
	case line[0] == '{':
		return `a JSON object without a request; expected "request" (Caddy), "request_uri" or "request" (nginx, named like its variables) or "RequestPath" (Traefik); ` + readable
	case line[0] == '#':
		return "a W3C extended log (IIS, CloudFront); " + readable + "; convert it to Combined first"
	case bytes.Contains(line, []byte("\thttp.log.access")):
		return "Caddy's console format; write the log with format json"
	}
	if what, _ := (&textParser{Format: &Format{HasUserAgent: true}}).Parse(line, new(Record)); what == Malformed {
		if what, _ := (&textParser{Format: new(Format), allowAnyEnd: true}).Parse(line, new(Record)); what == Request {
			return `Common with other fields after the size; expected "referer" "user agent" as in Combined; log these two`
		}
	}
	return "no known log format; " + readable + "; have the server write one of these"
}
