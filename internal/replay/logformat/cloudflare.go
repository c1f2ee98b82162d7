package logformat

// cloudflareParser reads the HTTP requests that Cloudflare Logpush writes as
// JSON, by the names of their fields:
// https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/zone/http_requests/
type cloudflareParser struct {
	buf  []byte
	time timeMemo
}

func (p *cloudflareParser) Parse(line []byte, r *Record) (Outcome, string) {
	*r = Record{}
	p.buf = p.buf[:0]
	if len(line) == 0 {
		return Other, ""
	}
	c := jsonCursor{b: line}
	if !c.object() {
		return Malformed, notJSON
	}
	var at, target []byte
	for {
		key, more, ok := c.key()
		if !ok {
			return Malformed, notJSON
		}
		if !more {
			break
		}
		value, ok := c.value()
		if !ok {
			return Malformed, notJSON
		}
		switch string(key) {
		case "EdgeStartTimestamp":
			at = value
		case "ClientRequestURI":
			target = unescape(value, &p.buf)
		case "ClientRequestMethod":
			r.Method = value
		case "ClientRequestHost":
			r.Host = unescape(value, &p.buf)
		case "ClientRequestScheme":
			r.Scheme = value
		case "ClientRequestUserAgent":
			r.UserAgent = unescape(value, &p.buf)
		case "ClientIP":
			r.Client = value
		case "EdgeResponseStatus":
			r.Status = parseStatus(value)
		case "EdgeResponseBytes":
			r.Bytes = parseSize(value)
		case "ClientRequestReferer":
			r.Referer = unescape(value, &p.buf)
		}
	}
	if !c.end() {
		return Malformed, "more than one JSON object"
	}
	if target == nil {
		return Malformed, "no ClientRequestURI; the Logpush job has to have that field"
	}
	if at != nil {
		if r.At, r.HasTime = p.time.of(at, anyTime); !r.HasTime {
			return Malformed, "no time in EdgeStartTimestamp"
		}
	}
	r.setTarget(target)
	return Request, ""
}
