package replay

// cloudflareParser reads the HTTP requests that Cloudflare Logpush writes as
// JSON, by the names of their fields:
// https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/zone/http_requests/
type cloudflareParser struct {
	buf  []byte
	time timeMemo
}

func (p *cloudflareParser) parse(line []byte, r *record) (outcome, string) {
	*r = record{}
	p.buf = p.buf[:0]
	if len(line) == 0 {
		return isOther, ""
	}
	c := jsonCursor{b: line}
	if !c.object() {
		return isMalformed, notJSON
	}
	var at, target []byte
	for {
		key, more, ok := c.key()
		if !ok {
			return isMalformed, notJSON
		}
		if !more {
			break
		}
		value, ok := c.value()
		if !ok {
			return isMalformed, notJSON
		}
		switch string(key) {
		case "EdgeStartTimestamp":
			at = value
		case "ClientRequestURI":
			target = unescape(value, &p.buf)
		case "ClientRequestMethod":
			r.method = value
		case "ClientRequestHost":
			r.host = unescape(value, &p.buf)
		case "ClientRequestScheme":
			r.scheme = value
		case "ClientRequestUserAgent":
			r.userAgent = unescape(value, &p.buf)
		case "ClientIP":
			r.client = value
		case "EdgeResponseStatus":
			r.status = parseStatus(value)
		}
	}
	if !c.end() {
		return isMalformed, "more than one JSON object"
	}
	if target == nil {
		return isMalformed, "no ClientRequestURI; the Logpush job has to have that field"
	}
	if at != nil {
		if r.at, r.hasTime = p.time.of(at, anyTime); !r.hasTime {
			return isMalformed, "no time in EdgeStartTimestamp"
		}
	}
	r.setTarget(target)
	return isRequest, ""
}
