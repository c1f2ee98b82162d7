package logformat

import "bytes"

// w3cFields are the fields of the W3C extended format that mean something here,
// as IIS and CloudFront write them.
var w3cFields = map[string]w3cField{
	"date": w3cDate, "time": w3cTime, "c-ip": w3cClient, "cs-method": w3cMethod, "cs-uri": w3cURI,
	"cs-uri-stem": w3cStem, "cs-uri-query": w3cQuery, "sc-status": w3cStatus, "s-port": w3cPort,
	"cs-host": w3cHost, "cs(Host)": w3cHost, "x-host-header": w3cViewerHost, "cs-protocol": w3cScheme,
	"cs(User-Agent)": w3cAgent, "sc-bytes": w3cSize, "cs(Referer)": w3cReferer,
}

type w3cField uint8

const (
	w3cSkipped w3cField = iota
	w3cDate
	w3cTime
	w3cClient
	w3cMethod
	w3cURI
	w3cStem
	w3cQuery
	w3cStatus
	w3cPort
	w3cHost
	w3cViewerHost
	w3cScheme
	w3cAgent
	w3cSize
	w3cReferer
)

// w3cParser reads logs in the extended format of the W3C
// (https://www.w3.org/TR/WD-logfile), which say themselves what their fields
// are. It reads those of IIS, which has "+" for a space, and the standard logs of
// CloudFront, which are separated by tabs and percent-encoded.
type w3cParser struct {
	Directives
	cloudfront bool
	buf        []byte
	time       timeMemo
}

// w3cParts are fields of a line that mean something together.
type w3cParts struct{ date, clock, stem, query, viewerHost []byte }

// Parse implements [Parser].
func (p *w3cParser) Parse(line []byte, r *Record) (Outcome, string) {
	*r = Record{}
	p.buf = p.buf[:0]
	switch {
	case len(line) == 0:
		return Other, ""
	case line[0] == '#':
		p.take(line)
		return Other, ""
	case len(p.fields) == 0:
		return Malformed, "no #Fields line before it"
	}
	parts := w3cParts{date: p.date}
	if why := p.split(line, r, &parts); why != "" {
		return Malformed, why
	}
	if parts.viewerHost != nil { // cs(Host) is then the name of the distribution
		r.Host = parts.viewerHost
	}
	if parts.clock != nil {
		from := len(p.buf)
		p.buf = append(append(append(p.buf, parts.date...), ' '), parts.clock...)
		if r.At, r.HasTime = p.time.of(p.buf[from:], isoTime); !r.HasTime {
			return Malformed, "no date and time where they should be"
		}
	}
	r.setTarget(p.target(parts.stem, parts.query))
	return Request, ""
}

// split puts the fields of a line into the record and into parts. It returns why it
// cannot, "" if it can.
func (p *w3cParser) split(line []byte, r *Record, parts *w3cParts) (why string) {
	separator := byte(' ')
	if p.cloudfront {
		separator = '\t'
	}
	rest := line
	for i, f := range p.fields {
		end := bytes.IndexByte(rest, separator)
		if end < 0 {
			if end = len(rest); i+1 < len(p.fields) {
				return "fewer fields than #Fields says"
			}
		}
		p.set(f, rest[:end], r, parts)
		rest = rest[min(end+1, len(rest)):]
	}
	if len(rest) > 0 {
		return "more fields than #Fields says"
	}
	return ""
}

// set puts the value of a field where it belongs.
func (p *w3cParser) set(f w3cField, value []byte, r *Record, parts *w3cParts) {
	switch f {
	case w3cDate:
		parts.date = value
	case w3cTime:
		parts.clock = value
	case w3cClient:
		r.Client = value
	case w3cMethod:
		r.Method = value
	case w3cURI, w3cStem:
		parts.stem = value
	case w3cQuery:
		parts.query = value
	case w3cStatus:
		r.Status = parseStatus(value)
	case w3cSize:
		r.Bytes = parseSize(value)
	case w3cReferer:
		r.Referer = orEmpty(value)
	case w3cPort:
		r.Port = orEmpty(value)
	case w3cHost:
		r.Host = orEmpty(value)
	case w3cViewerHost:
		parts.viewerHost = orEmpty(value)
	case w3cScheme:
		r.Scheme = orEmpty(value)
	case w3cAgent:
		r.UserAgent = p.agent(orEmpty(value))
	}
}

// target puts the path and the query together.
func (p *w3cParser) target(stem, query []byte) []byte {
	if query = orEmpty(query); len(query) == 0 || len(stem) == 0 {
		return orEmpty(stem)
	}
	from := len(p.buf)
	p.buf = append(append(append(p.buf, stem...), '?'), query...)
	return p.buf[from:len(p.buf):len(p.buf)]
}

// agent undoes the encoding of a User-Agent.
func (p *w3cParser) agent(b []byte) []byte {
	if p.cloudfront {
		b = Unpercent(b, &p.buf)
		return Unpercent(b, &p.buf) // older logs have %2520 for a space
	}
	from := len(p.buf)
	p.buf = append(p.buf, b...)
	b = p.buf[from:len(p.buf):len(p.buf)]
	for i, c := range b {
		// "++http" is a space and a plus.
		if c == '+' && (i == 0 || b[i-1] != ' ') {
			b[i] = ' '
		}
	}
	return b
}
