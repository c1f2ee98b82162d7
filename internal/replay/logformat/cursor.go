package logformat

import "bytes"

// jsonCursor reads the JSON of a log line from front to back without allocating. It accepts all
// valid JSON and some invalid JSON.
type jsonCursor struct {
	data     []byte
	position int
}

// skipSpace skips white space. It is small, so that the compiler inlines the usual case without
// white space.
func (c *jsonCursor) skipSpace() {
	if c.position < len(c.data) && c.data[c.position] <= ' ' {
		c.skipSpaces()
	}
}

func (c *jsonCursor) skipSpaces() {
	for c.position < len(c.data) {
		switch c.data[c.position] {
		case ' ', '\t', '\r', '\n':
			c.position++
		default:
			return
		}
	}
}

// consume skips white space and then the byte want. consume reports whether this byte was next.
func (c *jsonCursor) consume(want byte) bool {
	c.skipSpace()
	if c.position < len(c.data) && c.data[c.position] == want {
		c.position++
		return true
	}
	return false
}

// readString reads a string and returns the bytes between its quotes, with escapes.
func (c *jsonCursor) readString() (raw []byte, ok bool) {
	if !c.consume('"') {
		return nil, false
	}
	end := endOfQuoted(c.data[c.position:])
	if end < 0 {
		return nil, false
	}
	raw = c.data[c.position : c.position+end]
	c.position += end + 1
	return raw, true
}

// startsObject skips white space and reports whether the next byte begins an object.
func (c *jsonCursor) startsObject() bool {
	c.skipSpace()
	return c.position < len(c.data) && c.data[c.position] == '{'
}

// readKey reads the next key of an object and its colon. more is false at the end of the object,
// and ok is false for invalid JSON.
func (c *jsonCursor) readKey() (raw []byte, more, ok bool) {
	switch c.skipSpace(); {
	case c.position >= len(c.data):
		return nil, true, false
	case c.data[c.position] == '}':
		c.position++
		return nil, false, true
	case c.data[c.position] == ',':
		c.position++
	}
	raw, ok = c.readString()
	return raw, true, ok && c.consume(':')
}

// readValue reads a value of any type. readValue returns the bytes between the quotes of a string,
// the bytes of a number, true, false or null, and nil for an object or array.
func (c *jsonCursor) readValue() (raw []byte, ok bool) {
	c.skipSpace()
	if c.position >= len(c.data) {
		return nil, false
	}
	switch c.data[c.position] {
	case '"':
		return c.readString()
	case '{':
		return nil, c.skipFlat() || c.skipNested()
	case '[':
		return nil, c.skipNested()
	}
	start := c.position
	for c.position < len(c.data) && !endsWord[c.data[c.position]] {
		c.position++
	}
	return c.data[start:c.position], c.position > start
}

// endsWord is true for the bytes that end a number, true, false or null.
var endsWord = [256]bool{',': true, '}': true, ']': true, ' ': true, '\t': true, '\r': true, '\n': true}

// skipNested skips an object or array with all nested values.
func (c *jsonCursor) skipNested() bool {
	depth := 0
	for c.position < len(c.data) {
		switch c.data[c.position] {
		case '"':
			end := endOfQuoted(c.data[c.position+1:])
			if end < 0 {
				return false
			}
			c.position += end + 2
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		c.position++
		if depth == 0 {
			return true
		}
	}
	return false
}

// skipFlat skips an object that contains no other object, without reading its strings. If its first
// } may be inside a string, skipFlat skips nothing and returns false.
func (c *jsonCursor) skipFlat() bool {
	rest := c.data[c.position:]
	end := bytes.IndexByte(rest, '}')
	if end < 1 || bytes.IndexByte(rest[1:end], '{') >= 0 || !endsOutsideString(rest[:end]) {
		return false
	}
	c.position += end + 1
	return true
}

// endsOutsideString reports whether the end of a part of JSON is certainly not inside a string. The
// beginning must not be inside a string.
func endsOutsideString(part []byte) bool {
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

// findMember returns the index of a key's value in an object without nested objects, or 0 if the
// key is missing. quotedKey is the key with its closing quote. ok is false if the result is
// uncertain, for example because of spaces or a duplicate key.
func findMember(object, quotedKey []byte) (at int, ok bool) {
	for from := 0; ; {
		i := bytes.IndexByte(object[from:], quotedKey[0])
		if i < 0 {
			return at, true
		}
		i += from
		from = i + 1
		end := i + len(quotedKey)
		// The match is another key, or a string value.
		if i < 2 || object[i-1] != '"' || end >= len(object) || string(object[i:end]) != string(quotedKey) {
			continue
		}
		if before := object[i-2]; at > 0 || object[end] != ':' || before != '{' && before != ',' {
			return 0, false
		}
		at = end + 1
	}
}

// isAtEnd reports whether only white space follows.
func (c *jsonCursor) isAtEnd() bool {
	c.skipSpace()
	return c.position == len(c.data)
}
