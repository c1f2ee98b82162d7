package logformat

import (
	"bytes"
	"strings"
)

// field is what a place in a line holds.
type field uint8

const (
	skipped field = iota
	clientField
	timeField // in any notation
	requestField
	methodField
	targetField
	statusField
	hostField
	portField
	schemeField
	agentField
	sizeField    // of the answer
	refererField // both are as good as skipped to tell a format
)

// step is a field and the text before it.
type step struct {
	text   string
	field  field
	quoted bool // between quotes
}

// layout is a format with fixed text between the fields, such as Combined.
type layout struct {
	steps []step
	tail  string // after the last field; whatever follows it is ignored
}

// has reports whether the lines have a field.
func (l *layout) has(f field) bool {
	for _, s := range l.steps {
		if s.field == f {
			return true
		}
	}
	return false
}

// layoutParser reads the lines of a layout.
type layoutParser struct {
	*layout
	strict bool // for recognising a format: no spaces in fields without quotes
	buf    []byte
	time   timeMemo
}

// timeMemo remembers the last time that was read: many lines have the same.
type timeMemo struct {
	text  [32]byte
	n     int
	value int64
}

// of returns what read makes of a time.
func (m *timeMemo) of(b []byte, read func([]byte) (int64, bool)) (int64, bool) {
	if len(b) == m.n && bytes.Equal(b, m.text[:m.n]) && m.n > 0 {
		return m.value, true
	}
	at, ok := read(b)
	if ok && len(b) <= len(m.text) {
		m.n, m.value = copy(m.text[:], b), at
	}
	return at, ok
}

func (p *layoutParser) Parse(line []byte, r *Record) (Outcome, string) {
	*r = Record{}
	p.buf = p.buf[:0]
	if len(line) == 0 {
		return Other, ""
	}
	rest := line
	for i := range p.steps {
		s := &p.steps[i]
		if len(rest) < len(s.text) || string(rest[:len(s.text)]) != s.text {
			return Malformed, "other text between the fields than the format has"
		}
		rest = rest[len(s.text):]
		end := p.end(rest, i)
		if end < 0 {
			return Malformed, "fewer fields than the format has"
		}
		if s.field == skipped || s.field >= sizeField {
			switch s.field {
			case sizeField:
				r.Bytes = parseSize(rest[:end])
			case refererField:
				r.Referer = orEmpty(rest[:end])
			}
			if p.strict && !s.quoted && bytes.IndexByte(rest[:end], ' ') >= 0 {
				return Malformed, "a space in a field without quotes"
			}
		} else if why := p.take(s, rest[:end], r); why != "" {
			return Malformed, why
		}
		rest = rest[end:]
	}
	if len(rest) < len(p.tail) || string(rest[:len(p.tail)]) != p.tail {
		return Malformed, "cut off"
	}
	return Request, ""
}

// end returns where the field at the start of rest ends, -1 if it does not.
func (p *layoutParser) end(rest []byte, i int) int {
	next, last := p.tail, true
	if i+1 < len(p.steps) {
		next, last = p.steps[i+1].text, false
	}
	switch {
	case p.steps[i].quoted:
		return endOfQuoted(rest)
	case next == "": // the last field, to the end
		return len(rest)
	case len(next) == 1:
		if next == ":" && len(rest) > 0 && rest[0] == '[' { // an IPv6 host before its port
			if i := bytes.IndexByte(rest, ']'); i >= 0 {
				return i + 1
			}
		}
		return bytes.IndexByte(rest, next[0])
	case last || p.steps[i+1].field != timeField:
		return bytes.Index(rest, []byte(next))
	}
	// What comes before the time is a user's name, who may choose one that
	// looks like the beginning of a time.
	for from := 0; ; {
		j := bytes.Index(rest[from:], []byte(next))
		if j < 0 {
			return -1
		}
		from += j
		if at := rest[from+len(next):]; len(at) >= commonTimeLength {
			if _, ok := p.time.of(at[:commonTimeLength], commonTime); ok {
				return from
			}
		}
		from++
	}
}

// take puts a field into the record.
func (p *layoutParser) take(s *step, b []byte, r *Record) (why string) {
	if s.field == timeField {
		var ok bool
		if r.At, ok = p.time.of(b, anyTime); !ok {
			return "no time where it should be"
		}
		r.HasTime = true
		return ""
	}
	if s.field == statusField {
		if r.Status = parseStatus(b); r.Status == 0 && orEmpty(b) != nil {
			return "no status where it should be"
		}
		return ""
	}
	b = unescape(b, &p.buf)
	switch s.field {
	case requestField:
		r.setRequest(b)
	case targetField:
		r.setTarget(b)
	case methodField:
		r.Method = b
	case agentField:
		r.UserAgent = orEmpty(b)
	case clientField:
		r.Client = b
	case hostField:
		if r.Host == nil {
			r.Host = orEmpty(b)
		}
	case portField:
		r.Port = orEmpty(b)
	case schemeField:
		if r.Scheme == nil {
			r.Scheme = orEmpty(b)
		}
	}
	return ""
}

// finish notes which fields stand between quotes.
func (l *layout) finish() {
	for i := range l.steps {
		next := l.tail
		if i+1 < len(l.steps) {
			next = l.steps[i+1].text
		}
		l.steps[i].quoted = strings.HasSuffix(l.steps[i].text, `"`) && strings.HasPrefix(next, `"`)
	}
}
