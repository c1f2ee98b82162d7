package replay

import "bytes"

// w3cFields are the fields of the W3C extended format that mean something here,
// as IIS and CloudFront write them.
var w3cFields = map[string]w3cField{
	"date": w3cDate, "time": w3cTime, "c-ip": w3cClient, "cs-method": w3cMethod, "cs-uri": w3cURI,
	"cs-uri-stem": w3cStem, "cs-uri-query": w3cQuery, "sc-status": w3cStatus, "s-port": w3cPort,
	"cs-host": w3cHost, "cs(Host)": w3cHost, "x-host-header": w3cViewerHost, "cs-protocol": w3cScheme,
	"cs(User-Agent)": w3cAgent,
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
)

// w3cFieldsPrefix begins the line that names the fields of those after it.
const w3cFieldsPrefix = "#Fields:"

// w3cDatePrefix begins a line that has the date, for lines without one.
const w3cDatePrefix = "#Date:"

// w3cParser reads logs in the extended format of the W3C
// (https://www.w3.org/TR/WD-logfile), which say themselves what their fields
// are. It reads those of IIS, which has "+" for a space, and the standard logs of
// CloudFront, which are separated by tabs and percent-encoded.
type w3cParser struct {
	fields     []w3cField
	date       []byte // of the last #Date
	cloudfront bool
	buf        []byte
	time       timeMemo
}

// directive takes in a line that begins with #.
func (p *w3cParser) directive(line []byte) {
	if names, ok := bytes.CutPrefix(line, []byte(w3cFieldsPrefix)); ok {
		p.fields = p.fields[:0]
		for name := range bytes.FieldsSeq(names) {
			f := w3cFields[string(name)]
			p.fields = append(p.fields, f)
		}
		return
	}
	if date, ok := bytes.CutPrefix(line, []byte(w3cDatePrefix)); ok {
		date = bytes.TrimSpace(date)
		p.date = append(p.date[:0], date[:min(len(date), 10)]...)
	}
}

func (p *w3cParser) parse(line []byte, r *record) (outcome, string) {
	*r = record{}
	p.buf = p.buf[:0]
	if len(line) == 0 {
		return isOther, ""
	}
	if line[0] == '#' {
		p.directive(line)
		return isOther, ""
	}
	if len(p.fields) == 0 {
		return isMalformed, "no #Fields line before it"
	}
	separator := byte(' ')
	if p.cloudfront {
		separator = '\t'
	}
	var date, clock, stem, query, viewerHost []byte
	date = p.date
	rest := line
	for i, f := range p.fields {
		end := bytes.IndexByte(rest, separator)
		if end < 0 {
			if end = len(rest); i+1 < len(p.fields) {
				return isMalformed, "fewer fields than #Fields says"
			}
		}
		value := rest[:end]
		rest = rest[min(end+1, len(rest)):]
		switch f {
		case w3cDate:
			date = value
		case w3cTime:
			clock = value
		case w3cClient:
			r.client = value
		case w3cMethod:
			r.method = value
		case w3cURI, w3cStem:
			stem = value
		case w3cQuery:
			query = value
		case w3cStatus:
			r.status = parseStatus(value)
		case w3cPort:
			r.port = orEmpty(value)
		case w3cHost:
			r.host = orEmpty(value)
		case w3cViewerHost:
			viewerHost = orEmpty(value)
		case w3cScheme:
			r.scheme = orEmpty(value)
		case w3cAgent:
			r.userAgent = p.agent(orEmpty(value))
		}
	}
	if len(rest) > 0 {
		return isMalformed, "more fields than #Fields says"
	}
	if viewerHost != nil { // cs(Host) is then the name of the distribution
		r.host = viewerHost
	}
	if clock != nil {
		from := len(p.buf)
		p.buf = append(append(append(p.buf, date...), ' '), clock...)
		if r.at, r.hasTime = p.time.of(p.buf[from:], isoTime); !r.hasTime {
			return isMalformed, "no date and time where they should be"
		}
	}
	r.setTarget(p.target(stem, query))
	return isRequest, ""
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
		b = unpercent(b, &p.buf)
		return unpercent(b, &p.buf) // older logs have %2520 for a space
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
