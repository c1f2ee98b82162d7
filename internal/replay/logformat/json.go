package logformat

// jsonCursor reads a JSON text from front to back without allocating. It takes
// every valid text and some that are not quite valid.
type jsonCursor struct {
	b []byte
	i int
}

// space skips white space, of which logs have none. It is inlined up to there.
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

// next skips white space and takes the byte given, if it is there.
func (c *jsonCursor) next(want byte) bool {
	c.space()
	if c.i < len(c.b) && c.b[c.i] == want {
		c.i++
		return true
	}
	return false
}

// text reads a string and returns what stands between its quotes.
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

// object begins an object and returns false if there is none.
func (c *jsonCursor) object() bool { return c.next('{') }

// key reads the next key of an object. more is false at its end; ok is false
// where there is neither.
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

// value reads any value. Of a string it returns what is between the quotes, of
// a number or word all of it, of an object or array nothing.
func (c *jsonCursor) value() (raw []byte, ok bool) {
	c.space()
	if c.i >= len(c.b) {
		return nil, false
	}
	switch c.b[c.i] {
	case '"':
		return c.text()
	case '{', '[':
		return nil, c.nested()
	}
	start := c.i
	for c.i < len(c.b) && !endsWord(c.b[c.i]) {
		c.i++
	}
	return c.b[start:c.i], c.i > start
}

// endsWord reports whether a byte ends a number or a word.
func endsWord(b byte) bool {
	switch b {
	case ',', '}', ']', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// nested skips an object or array with all that is in it.
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

// end reports whether only white space is left.
func (c *jsonCursor) end() bool {
	c.space()
	return c.i == len(c.b)
}
