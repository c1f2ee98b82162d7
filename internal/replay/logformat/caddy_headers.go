package logformat

import "slices"

// What ends the keys of the header fields that are read.
var (
	keyUserAgent = []byte(`User-Agent"`)
	keyReferer   = []byte(`Referer"`)
)

// headers reads the header of the request: arrays of strings by name, which come in any
// order. Only two are of interest.
func (p *caddyParser) headers(c *jsonCursor, r *Record) (ok bool) {
	start := c.i
	if c.flat() {
		object := c.b[start:c.i]
		agent, agentOK := member(object, keyUserAgent)
		referer, refererOK := member(object, keyReferer)
		if agentOK && refererOK {
			if agent > 0 {
				p.userAgent(&jsonCursor{object, agent}, r)
			}
			if referer > 0 {
				p.referer(&jsonCursor{object, referer}, r)
			}
			return true
		}
		c.i = start
	}
	c.object()
	for {
		key, more, ok := c.key()
		if !ok {
			return false
		}
		if !more {
			return true
		}
		value := c.i
		switch string(key) {
		case "User-Agent":
			ok = p.userAgent(c, r)
		case "Referer":
			ok = p.referer(c, r)
		default:
			ok = false
		}
		if !ok {
			c.i = value
			if _, ok := c.value(); !ok {
				return false
			}
		}
	}
}

// userAgent reads the fields User-Agent. Several count as one, as for the handler.
func (p *caddyParser) userAgent(c *jsonCursor, r *Record) (ok bool) {
	if !c.next('[') {
		return false
	}
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
	return c.next(']')
}

// referer reads the field Referer, of which clients send one.
func (p *caddyParser) referer(c *jsonCursor, r *Record) (ok bool) {
	if !c.next('[') {
		return false
	}
	r.Referer, _ = c.text()
	return c.next(']')
}
