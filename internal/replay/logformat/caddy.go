package logformat

import (
	"bytes"
	"slices"
)

// caddyParser reads Caddy's access logs in JSON. Other messages in the same
// file are not requests.
type caddyParser struct {
	buf  []byte
	time timeMemo
}

var (
	schemeHTTP  = []byte("http")
	schemeHTTPS = []byte("https")
)

const notJSON = "not a JSON object, or cut off"

func (p *caddyParser) Parse(line []byte, r *Record) (Outcome, string) {
	*r = Record{}
	p.buf = p.buf[:0]
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
		key, more, ok := c.key()
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
		value, ok := c.value()
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
		key, more, ok := c.key()
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
		value, ok := c.value()
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
			}
			c.i = start
		}
		if string(key) != "User-Agent" {
			if _, ok := c.value(); !ok {
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
		}
		c.i = start
		if _, ok := c.value(); !ok {
			return false
		}
	}
}
