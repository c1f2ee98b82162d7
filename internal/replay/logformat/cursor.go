package logformat

import "bytes"

// jsonCursor parses JSON from front to back without allocating. All valid JSON and some invalid
// JSON is accepted.
type jsonCursor struct {
	b []byte
	i int
}

// space skips white space. The usual case without white space is inlined.
func (c *jsonCursor) space() {
	if c.i < len(c.b) && c.b[c.i] <= ' ' {
		c.spaces()
	}
}

func (c *jsonCursor) spaces() {
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case ' ', '\t', '\r', '\n':
			c.i++
		default:
			return
		}
	}
}

// next skips white space and consumes the wanted byte, if present.
func (c *jsonCursor) next(want byte) bool {
	c.space()
	if c.i < len(c.b) && c.b[c.i] == want {
		c.i++
		return true
	}
	return false
}

// text parses a string and returns the bytes between the quotes.
func (c *jsonCursor) text() (raw []byte, ok bool) {
	if !c.next('"') {
		return nil, false
	}
	end := endOfQuoted(c.b[c.i:])
	if end < 0 {
		return nil, false
	}
	raw = c.b[c.i : c.i+end]
	c.i += end + 1
	return raw, true
}

// startsObject skips white space and reports whether an object follows.
func (c *jsonCursor) startsObject() bool {
	c.space()
	return c.i < len(c.b) && c.b[c.i] == '{'
}

// key parses the next key of an object. more is false at the end of the object, and ok is false for
// invalid JSON.
func (c *jsonCursor) key() (raw []byte, more, ok bool) {
	switch c.space(); {
	case c.i >= len(c.b):
		return nil, true, false
	case c.b[c.i] == '}':
		c.i++
		return nil, false, true
	case c.b[c.i] == ',':
		c.i++
	}
	raw, ok = c.text()
	return raw, true, ok && c.next(':')
}

// value parses any value. It returns the bytes between the quotes of a string, all of a number or
// word, and nothing for an object or array.
func (c *jsonCursor) value() (raw []byte, ok bool) {
	c.space()
	if c.i >= len(c.b) {
		return nil, false
	}
	switch c.b[c.i] {
	case '"':
		return c.text()
	case '{':
		return nil, c.flat() || c.nested()
	case '[':
		return nil, c.nested()
	}
	start := c.i
	for c.i < len(c.b) && !endsWord[c.b[c.i]] {
		c.i++
	}
	return c.b[start:c.i], c.i > start
}

// endsWord has the bytes after a number or a word.
var endsWord = [256]bool{',': true, '}': true, ']': true, ' ': true, '\t': true, '\r': true, '\n': true}

// nested skips an object or array.
func (c *jsonCursor) nested() bool {
	depth := 0
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case '"':
			end := endOfQuoted(c.b[c.i+1:])
			if end < 0 {
				return false
			}
			c.i += end + 2
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		c.i++
		if depth == 0 {
			return true
		}
	}
	return false
}

// flat skips an object without parsing each string, or returns false and skips nothing if the first
// closing brace may be inside a string.
func (c *jsonCursor) flat() bool {
	rest := c.b[c.i:]
	end := bytes.IndexByte(rest, '}')
	if end < 1 || bytes.IndexByte(rest[1:end], '{') >= 0 || !isOutside(rest[:end]) {
		return false
	}
	c.i += end + 1
	return true
}

// isOutside reports whether the end of a part of JSON is certainly outside strings. The part begins
// outside strings.
func isOutside(part []byte) bool {
	if n := len(part); n > 3 && part[n-1] == ']' && part[n-2] == '"' {
		// The quote ends a string unless the quote may begin a string or be a part of one.
		before := part[n-3]
		if before > ' ' && before != '[' && before != ',' && before != ':' && before != '\\' {
			return true
		}
	}
	return bytes.IndexByte(part, '\\') < 0 && bytes.Count(part, quote)%2 == 0
}

var quote = []byte{'"'}

// member returns the index of the value of a key in an object that [jsonCursor.flat] skips, or 0 if
// the key is absent. The search compares the quoted key only. ok is false if the result is
// uncertain, for example because of spaces or a duplicate key.
func member(object, quotedKey []byte) (at int, ok bool) {
	for from := 0; ; {
		i := bytes.IndexByte(object[from:], quotedKey[0])
		if i < 0 {
			return at, true
		}
		i += from
		from = i + 1
		end := i + len(quotedKey)
		if i < 2 || object[i-1] != '"' || end >= len(object) || string(object[i:end]) != string(quotedKey) { // another key, or a string value
			continue
		}
		if before := object[i-2]; at > 0 || object[end] != ':' || before != '{' && before != ',' {
			return 0, false
		}
		at = end + 1
	}
}

// end reports whether only white space follows.
func (c *jsonCursor) end() bool {
	c.space()
	return c.i == len(c.b)
}
