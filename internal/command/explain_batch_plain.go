package command

import (
	"bytes"
	"strconv"
	"time"
)

// plain parses a line in the usual form of databases: an object with the names of batchRequest,
// ASCII strings and whole numbers. The id is a number, a string, or a list of them. plain is
// several times as fast as encoding/json and returns the same. It returns false for all other lines
// and for invalid lines, and then q is undefined.
func (q *batchRequest) plain(line []byte) bool {
	c := plainCursor{rest: bytes.TrimRight(line, "\r\n")}
	if !c.take('{') {
		return false
	}
	for first := true; !c.take('}'); first = false {
		if !first && !c.take(',') {
			return false
		}
		key, ok := c.text()
		if !ok || !c.take(':') || !q.plainField(key, &c) {
			return false
		}
	}
	return len(c.rest) == 0
}

// plainField parses the value of a field.
func (q *batchRequest) plainField(key []byte, c *plainCursor) (ok bool) {
	var value []byte
	switch string(key) {
	case "id":
		q.ID, ok = c.id()
		return ok
	case "time":
		value, ok = c.number()
		seconds, err := strconv.ParseInt(string(value), 10, 64)
		if q.Time.Time = time.Unix(seconds, 0); seconds == 0 {
			q.Time.Time = time.Time{}
		}
		return ok && err == nil && seconds < maxBatchTime
	case "user_agent":
		value, ok = c.text()
		q.UserAgent = batchAgent{text: string(value), given: true}
		return ok
	}
	value, ok = c.text()
	switch string(key) {
	case "token":
		q.Token = string(value)
	case "url":
		q.URL = string(value)
	case "method":
		q.Method = methodName(value)
	case "host":
		q.Host = string(value)
	default:
		return false
	}
	return ok
}

// methodName returns the method as a string, without copying the usual methods.
func methodName(b []byte) string {
	switch string(b) {
	case "GET":
		return "GET"
	case "HEAD":
		return "HEAD"
	}
	return string(b)
}

// plainCursor parses from front to back.
type plainCursor struct{ rest []byte }

// take consumes the given byte, if it is next.
func (c *plainCursor) take(want byte) bool {
	if len(c.rest) == 0 || c.rest[0] != want {
		return false
	}
	c.rest = c.rest[1:]
	return true
}

// number parses a number of at most 18 digits that is valid JSON.
func (c *plainCursor) number() ([]byte, bool) {
	n := 0
	for n < len(c.rest) && '0' <= c.rest[n] && c.rest[n] <= '9' {
		n++
	}
	digits := c.rest[:n]
	c.rest = c.rest[n:]
	return digits, 0 < n && n <= 18 && (n == 1 || digits[0] != '0')
}

// id parses a number, a string, or a list of them, as databases write a row. The response repeats
// the id unchanged.
func (c *plainCursor) id() ([]byte, bool) {
	start := c.rest
	ok := false
	if c.take('[') {
		for ok = c.scalar(); ok && c.take(','); {
			ok = c.scalar()
		}
		ok = ok && c.take(']')
	} else {
		ok = c.scalar()
	}
	return start[:len(start)-len(c.rest)], ok
}

// scalar parses a number or a string.
func (c *plainCursor) scalar() bool {
	if len(c.rest) == 0 || c.rest[0] != '"' {
		_, ok := c.number()
		return ok
	}
	for i := 1; i < len(c.rest); i++ {
		switch b := c.rest[i]; {
		case b == '"':
			c.rest = c.rest[i+1:]
			return true
		case b < ' ' || b > '~':
			return false
		case b == '\\':
			if i++; i == len(c.rest) || !isPlainEscape(c.rest[i]) {
				return false
			}
		}
	}
	return false
}

// isPlainEscape reports whether a byte after a backslash represents itself.
func isPlainEscape(b byte) bool { return b == '/' || b == '"' || b == '\\' }

// text parses a string in printable ASCII. It accepts escapes of a slash, as ClickHouse writes, a
// quote and a backslash.
func (c *plainCursor) text() ([]byte, bool) {
	if !c.take('"') {
		return nil, false
	}
	for i, b := range c.rest {
		switch {
		case b == '"':
			text := c.rest[:i]
			c.rest = c.rest[i+1:]
			return text, true
		case b == '\\':
			return c.escaped(i)
		case b < ' ' || b > '~':
			return nil, false
		}
	}
	return nil, false
}

// escaped parses the rest of a string with an escape after n bytes.
func (c *plainCursor) escaped(n int) ([]byte, bool) {
	text := append(make([]byte, 0, n+128), c.rest[:n]...)
	for i := n; i < len(c.rest); i++ {
		b := c.rest[i]
		switch {
		case b == '"':
			c.rest = c.rest[i+1:]
			return text, true
		case b < ' ' || b > '~':
			return nil, false
		case b == '\\':
			if i++; i == len(c.rest) {
				return nil, false
			}
			if b = c.rest[i]; !isPlainEscape(b) {
				return nil, false
			}
		}
		text = append(text, b)
	}
	return nil, false
}

// appendTo appends the result as a JSON line, in the form of encoding/json.
func (r *batchResult) appendTo(line []byte) ([]byte, error) {
	if r.Error != "" || !isPlain(r.Crawler) || !isPlain(r.Rule) || !isPlain(r.Group) {
		var out bytes.Buffer
		err := newEncoder(&out).Encode(r)
		return append(line, out.Bytes()...), err
	}
	line = append(append(line, `{"id":`...), r.ID...)
	line = strconv.AppendBool(append(line, `,"allowed":`...), r.Allowed)
	line = append(append(line, `,"verdict":"`...), r.Verdict...)
	line = append(append(line, `","rule":"`...), r.Rule...)
	line = strconv.AppendInt(append(line, `","line":`...), int64(r.Line), 10)
	line = append(append(line, `,"group":"`...), r.Group...)
	line = strconv.AppendBool(append(line, `","ambiguous":`...), r.Ambiguous)
	line = append(append(line, `,"crawler":"`...), r.Crawler...)
	line = append(append(line, `","class":"`...), r.Class...)
	return append(line, "\"}\n"...), nil
}

// isPlain reports whether a string needs no escapes in JSON.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
