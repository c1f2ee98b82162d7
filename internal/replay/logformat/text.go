package logformat

import "bytes"

// textParser parses lines in the Combined and Common formats, with or without a host in front:
//
//	[host[:port]] client ident user [time] "request" status size ["referer" "user agent" ...]
//
// It ignores the fields after the User-Agent of a Combined line.
type textParser struct {
	*Format
	// strict rejects a line with more fields before the time than the format has, or with - as the
	// client. Recognise uses strict parsers.
	strict      bool
	allowAnyEnd bool // allowAnyEnd ignores what follows the size in a Common line.
	buf         []byte
	time        timeCache
}

// Parse implements [Parser].
func (p *textParser) Parse(line []byte, r *Record) (Outcome, string) {
	*r = Record{}
	p.buf = p.buf[:0]
	if len(line) == 0 {
		return Other, ""
	}
	start, rest := p.cutTime(line, r)
	if rest == nil {
		return Malformed, "no time such as [02/Jan/2006:15:04:05 -0700]"
	}
	if why := p.parseClient(start, r); why != "" {
		return Malformed, why
	}
	request, rest, ok := cutQuoted(rest)
	if !ok {
		return Malformed, "no request in quotes after the time"
	}
	status, rest, _ := bytes.Cut(bytes.TrimPrefix(rest, space), space)
	// nginx logs 000 if it sent no response.
	if r.Status = parseStatus(status); r.Status == 0 && string(status) != "-" && string(status) != "000" {
		return Malformed, "no status after the request"
	}
	size, rest, more := bytes.Cut(rest, space)
	switch r.Bytes = parseSize(size); {
	case len(size) == 0:
		return Malformed, "no size after the status"
	case !p.HasUserAgent && more && !p.allowAnyEnd:
		return Malformed, "more fields than the Common format has"
	case p.HasUserAgent:
		_, rest, ok := cutQuoted(rest)
		if !ok {
			return Malformed, "no referer in quotes after the size"
		}
		agent, _, ok := cutQuoted(bytes.TrimPrefix(rest, space))
		if !ok {
			return Malformed, "no User-Agent in quotes after the referer"
		}
		r.UserAgent = dashToNil(unescape(agent, &p.buf))
	}
	r.setRequestLine(unescape(request, &p.buf))
	return Request, ""
}

var space = []byte{' '}

// cutTime parses the time in brackets, and returns the parts of the line before and after the time.
// The user name precedes the time and may itself contain brackets.
func (p *textParser) cutTime(line []byte, r *Record) (before, after []byte) {
	for from := 0; ; {
		i := bytes.IndexByte(line[from:], '[')
		if i < 0 {
			return nil, nil
		}
		i += from
		from = i + 1
		end := from + commonTimeLength
		if end+2 > len(line) || i == 0 || line[i-1] != ' ' || line[end] != ']' || line[end+1] != ' ' {
			continue
		}
		if r.At, r.HasTime = p.time.parse(line[from:end], parseCommonTime); r.HasTime {
			return line[:i-1], line[end+2:]
		}
	}
}

// parseClient parses the fields before the time: the host, the client, ident and user. why is the
// problem, or "".
func (p *textParser) parseClient(fields []byte, r *Record) (why string) {
	if p.startsWithHost {
		host, rest, _ := bytes.Cut(fields, space)
		r.Host, fields = dashToNil(host), rest
	}
	client, names, ok := bytes.Cut(fields, space)
	if !ok || bytes.IndexByte(names, ' ') < 0 {
		return "fewer fields before the time than the format has"
	}
	if p.strict && (bytes.Count(names, space) > 1 || string(client) == "-") {
		return "more fields before the time than the format has"
	}
	r.Client = client
	return ""
}

// cutQuoted returns the content of the quoted field at the start of b, and the bytes after the
// field.
func cutQuoted(b []byte) (content, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, false
	}
	end := endOfQuoted(b[1:])
	if end < 0 {
		return nil, nil, false
	}
	return b[1 : 1+end], b[end+2:], true
}
