package logformat

import (
	"bytes"
	"slices"
)

// caddyParser reads Caddy's access logs in JSON. Other messages in the same
// file are not requests.
type caddyParser struct {
	buf     []byte
	time    timeMemo
	skipped [16][]byte // objects and arrays of which nothing is read, by their keys
	keys    [32]keyMemo
	nth     int // of the keys of this line that the server writes in the same order
}

// keyMemo is a key as it came in the last line, with what stands around it.
type keyMemo struct {
	text     []byte // such as ,"uri":
	from, to int    // where the key stands in it
	value    []byte // what came after it, if that was a short string, with its quotes
}

// key is [jsonCursor.key] where the server writes the same keys in each line, in the same
// order: to compare one is faster than to look for its end.
func (p *caddyParser) key(c *jsonCursor) (raw []byte, more, ok bool) {
	known, start := &p.keys[p.nth%len(p.keys)], c.i
	p.nth++
	if len(known.text) > 0 && bytes.HasPrefix(c.b[start:], known.text) { // none is the beginning of another
		c.i += len(known.text)
		return known.text[known.from:known.to], true, true
	}
	raw, more, ok = c.key()
	if quote := bytes.IndexByte(c.b[start:c.i], '"'); more && ok && c.i-start <= maxSkipped {
		known.text = append(known.text[:0], c.b[start:c.i]...)
		known.from, known.to = quote+1, quote+1+len(raw)
	}
	return raw, more, ok
}

// maxSkipped bounds each of these, in bytes.
const maxSkipped = 1 << 10

// value is [jsonCursor.value]. Much that is skipped is the same from line to line, such as
// what a browser accepts: to compare it is faster than to look for its end.
func (p *caddyParser) value(c *jsonCursor, key []byte) (raw []byte, ok bool) {
	c.space()
	switch {
	case c.i < len(c.b) && c.b[c.i] == '"':
		return p.string(c)
	case c.i >= len(c.b) || c.b[c.i] != '{' && c.b[c.i] != '[':
		return c.value()
	}
	place := len(key)
	if place > 0 {
		place += int(key[0]) + int(key[place/2])<<1
	}
	known, start := &p.skipped[place%len(p.skipped)], c.i
	if len(*known) > 0 && bytes.HasPrefix(c.b[start:], *known) { // none is the beginning of another
		c.i += len(*known)
		return nil, true
	}
	if ok = c.nested(); ok && c.i-start <= maxSkipped {
		*known = append((*known)[:0], c.b[start:c.i]...)
	}
	return nil, ok
}

// string is [jsonCursor.text] where many are the same as in the line before.
func (p *caddyParser) string(c *jsonCursor) (raw []byte, ok bool) {
	known, start := &p.keys[(p.nth-1)%len(p.keys)].value, c.i
	if n := len(*known); n > 0 && bytes.HasPrefix(c.b[start:], *known) { // none is the beginning of another
		c.i += n
		return c.b[start+1 : c.i-1], true
	}
	if raw, ok = c.text(); ok && c.i-start <= maxRepeated {
		*known = append((*known)[:0], c.b[start:c.i]...)
	}
	return raw, ok
}

// maxRepeated bounds a string that is kept to be compared, in bytes.
const maxRepeated = 32

var (
	schemeHTTP  = []byte("http")
	schemeHTTPS = []byte("https")
)

const notJSON = "not a JSON object, or cut off"

func (p *caddyParser) Parse(line []byte, r *Record) (Outcome, string) {
	*r = Record{}
	p.buf, p.nth = p.buf[:0], 0
	if len(line) == 0 {
		return Other, ""
	}
	c := jsonCursor{b: line}
	if !c.object() {
		return Malformed, notJSON
	}
	var logger, at []byte
	hasRequest := false
	for {
		key, more, ok := p.key(&c)
		if !ok {
			return Malformed, notJSON
		}
		if !more {
			break
		}
		if string(key) == "request" {
			c.space()
			if c.i < len(c.b) && c.b[c.i] == '{' {
				hasRequest = true
				if !p.request(&c, r) {
					return Malformed, notJSON
				}
				continue
			}
		}
		value, ok := p.value(&c, key)
		if !ok {
			return Malformed, notJSON
		}
		switch string(key) {
		case "ts":
			at = value
		case "logger":
			logger = value
		case "status":
			r.Status = parseStatus(value)
		case "size":
			r.Bytes = parseSize(value)
		}
	}
	if !c.end() {
		return Malformed, "more than one JSON object"
	}
	// A request that fails is logged by http.log.error, too.
	if !hasRequest || len(logger) > 0 && !bytes.HasPrefix(logger, []byte("http.log.access")) || r.Status == 0 {
		return Other, ""
	}
	if at != nil {
		if r.At, r.HasTime = p.time.of(at, anyTime); !r.HasTime {
			return Malformed, "no time in \"ts\""
		}
	}
	return Request, ""
}

// request reads the object that describes the request.
func (p *caddyParser) request(c *jsonCursor, r *Record) (ok bool) {
	c.object()
	var target []byte
	for {
		key, more, ok := p.key(c)
		if !ok {
			return false
		}
		if !more {
			break
		}
		switch string(key) {
		case "headers":
			c.space()
			if c.i < len(c.b) && c.b[c.i] == '{' {
				if !p.headers(c, r) {
					return false
				}
				continue
			}
		case "tls":
			r.Scheme = schemeHTTPS
		}
		value, ok := p.value(c, key)
		if !ok {
			return false
		}
		switch string(key) {
		case "uri":
			target = unescape(value, &p.buf)
		case "method":
			r.Method = unescape(value, &p.buf)
		case "host":
			r.Host = unescape(value, &p.buf)
		case "client_ip":
			r.Client = value
		case "remote_ip":
			if r.Client == nil {
				r.Client = value
			}
		}
	}
	if r.Scheme == nil {
		r.Scheme = schemeHTTP
	}
	r.setTarget(target)
	return true
}

// headers reads the header of the request: arrays of strings by name.
func (p *caddyParser) headers(c *jsonCursor, r *Record) (ok bool) {
	c.object()
	for {
		key, more, ok := c.key()
		if !ok {
			return false
		}
		if !more {
			return true
		}
		if string(key) == "Referer" {
			start := c.i
			if c.next('[') {
				r.Referer, _ = c.text()
				if c.next(']') {
					continue
				}
			}
			c.i = start
		}
		if string(key) != "User-Agent" {
			if _, ok := p.value(c, key); !ok {
				return false
			}
			continue
		}
		start := c.i
		if c.next('[') {
			// Several fields count as one, as for the handler.
			for fields := 0; ; fields++ {
				value, ok := c.text()
				if !ok {
					break
				}
				text := unescape(value, &p.buf)
				if fields > 0 {
					text = slices.Concat(r.UserAgent, []byte(", "), text)
				}
				r.UserAgent = text
				if !c.next(',') {
					break
				}
			}
			if c.next(']') {
				continue
			}
		}
		c.i = start
		if _, ok := c.value(); !ok {
			return false
		}
	}
}
