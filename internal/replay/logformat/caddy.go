package logformat

import (
	"bytes"
)

// caddyParser reads Caddy's access logs in JSON. Other messages in the same
// file are not requests.
type caddyParser struct {
	buf     []byte
	time    timeMemo
	members [32]caddyMember
	nth     int // of the members of this line that the server writes in the same order
}

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
		key, value, more, ok := p.member(&c, 1<<requestKey|1<<guardKey)
		if !ok {
			return Malformed, notJSON
		}
		if !more {
			break
		}
		switch key {
		case requestKey:
			if c.startsObject() {
				hasRequest, ok = true, p.request(&c, r)
			}
		case guardKey:
			if c.startsObject() {
				ok = p.judgement(&c, r)
			}
		case timeKey:
			at = value
		case loggerKey:
			logger = value
		case statusKey:
			r.Status = parseStatus(value)
		case sizeKey:
			r.Bytes = parseSize(value)
		}
		if !ok {
			return Malformed, notJSON
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
		key, value, more, ok := p.member(c, 1<<headersKey)
		if !ok {
			return false
		}
		if !more {
			break
		}
		switch key {
		case headersKey:
			if c.startsObject() && !p.headers(c, r) {
				return false
			}
		case tlsKey:
			r.Scheme = schemeHTTPS
		case targetKey:
			target = unescape(value, &p.buf)
		case methodKey:
			r.Method = unescape(value, &p.buf)
		case hostKey:
			r.Host = unescape(value, &p.buf)
		case clientKey:
			r.Client = value
		case remoteKey:
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

// judgement reads what a robots_guard has noted of the request.
func (p *caddyParser) judgement(c *jsonCursor, r *Record) (ok bool) {
	c.object()
	for {
		key, value, more, ok := p.member(c, 0)
		if !ok || !more {
			return ok
		}
		if key == actionKey {
			r.Guarded = string(value) == "blocked" || string(value) == "slowed"
		}
	}
}
