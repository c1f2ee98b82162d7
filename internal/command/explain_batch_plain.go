package command

import (
	"bytes"
	"strconv"
	"time"
)

// plain reads a line as databases write it: an object of names as they stand in
// batchRequest, with strings in ASCII and whole numbers, and an id that is a number,
// a string, or a list of these. It is several times as fast as encoding/json, and says the
// same. For every other line, and for one that is no request, it returns false; what q has
// then is of no use.
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

// plainField reads the value of a field.
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

// methodName is the method as a string, without a copy of the usual ones.
func methodName(b []byte) string {
	switch string(b) {
	case "GET":
		return "GET"
	case "HEAD":
		return "HEAD"
	}
	return string(b)
}

// plainCursor reads from front to back.
type plainCursor struct{ rest []byte }

// take takes the byte given, if it is next.
func (c *plainCursor) take(want byte) bool {
	if len(c.rest) == 0 || c.rest[0] != want {
		return false
	}
	c.rest = c.rest[1:]
	return true
}

// number takes a number of at most 18 digits, and so none that is no JSON.
func (c *plainCursor) number() ([]byte, bool) {
	n := 0
	for n < len(c.rest) && '0' <= c.rest[n] && c.rest[n] <= '9' {
		n++
	}
	digits := c.rest[:n]
	c.rest = c.rest[n:]
	return digits, 0 < n && n <= 18 && (n == 1 || digits[0] != '0')
}

// id takes what comes back as it is: a number, a string, or a list of these, as
// databases write the columns of a row.
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

// scalar takes a number or a string.
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

// isPlainEscape reports whether a byte stands for itself behind a backslash.
func isPlainEscape(b byte) bool { return b == '/' || b == '"' || b == '\\' }

// text takes a string in printable ASCII. Of the escapes it knows those of a
// slash, with which ClickHouse writes it, a quote and a backslash.
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

// escaped takes the rest of a string that has an escape after n bytes.
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

// appendTo appends the line of a result, as encoding/json would write it.
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

// isPlain reports whether a string stands in JSON as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
