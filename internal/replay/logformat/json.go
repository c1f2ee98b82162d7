package logformat

import (
	"bytes"
	"slices"
)

// jsonServer is a kind of server that writes access logs in JSON.
type jsonServer uint8

const (
	caddyJSON jsonServer = iota
	nginxJSON
	traefikJSON
)

// jsonObject is the position of an object in a log line. It decides which keys have a meaning.
type jsonObject uint8

const (
	lineObject    jsonObject = iota // lineObject is the line itself.
	requestObject                   // requestObject is "request" in a line of Caddy.
	headersObject                   // headersObject is "headers" in "request".
	guardObject                     // guardObject is "robots_guard" in a line of Caddy.
)

// jsonField is the meaning of a key in a log line.
type jsonField uint8

const (
	skippedField jsonField = iota
	requestField           // requestField has an object as its value in Caddy's log, and a request line in the log of nginx.
	guardField
	headersField
	loggerField
	messageField
	timeField
	caddyTimeField
	statusField
	sizeField
	targetField
	pathField // pathField is a target that nginx has decoded. It is used only without another target.
	traefikTargetField
	methodField
	hostField
	serverNameField // serverNameField is the name of the virtual server. It is used only without a hostField.
	clientField
	peerField // peerField is the client. It is used only without a clientField.
	agentField
	agentsField // agentsField is an array of header values.
	actionField
)

// fieldForKey returns the meaning of a key in an object of a line.
func fieldForKey(object jsonObject, key []byte) jsonField {
	switch object {
	case lineObject:
		return fieldForLineKey(key)
	case requestObject:
		switch string(key) {
		case "uri":
			return targetField
		case "method":
			return methodField
		case "host":
			return hostField
		case "client_ip":
			return clientField
		case "remote_ip":
			return peerField
		case "headers":
			return headersField
		}
	case headersObject:
		if string(key) == "User-Agent" {
			return agentsField
		}
	case guardObject:
		if string(key) == "action" {
			return actionField
		}
	}
	return skippedField
}

// fieldForLineKey returns the meaning of a key in the outermost object of a line. The operator of
// an nginx chooses the keys, so fieldForLineKey knows the names of nginx's variables and usual
// shorter names.
func fieldForLineKey(key []byte) jsonField {
	switch string(key) {
	case "request":
		return requestField
	case "robots_guard":
		return guardField
	case "logger":
		return loggerField
	case "msg":
		return messageField
	case "ts":
		return caddyTimeField
	case "time", "timestamp", "@timestamp", "time_iso8601", "time_local", "msec", "StartUTC", "StartLocal":
		return timeField
	case "status", "DownstreamStatus":
		return statusField
	case "size", "bytes", "body_bytes_sent", "bytes_sent", "DownstreamContentSize":
		return sizeField
	case "request_uri":
		return targetField
	case "uri":
		return pathField
	case "RequestPath":
		return traefikTargetField
	case "request_method", "method", "RequestMethod":
		return methodField
	case "host", "http_host", "vhost", "RequestHost":
		return hostField
	case "server_name":
		return serverNameField
	case "remote_addr", "client_ip", "client", "ip", "ClientHost":
		return clientField
	case "remote_ip":
		return peerField
	case "http_user_agent", "user_agent", "agent", "ua", "request_User-Agent":
		return agentField
	}
	return skippedField
}

// jsonParser parses lines in the JSON of Caddy, nginx and Traefik. Caddy's messages about other
// things than requests have the outcome Other.
type jsonParser struct {
	server jsonServer // server is the server that wrote the last request.
	// hasUserAgent is true if the format logs User-Agents: the last request had a key for the
	// User-Agent, or was logged by Caddy, which omits the key only if the client sent no User-Agent.
	hasUserAgent bool

	buf  []byte
	time timeCache
	line jsonLine
}

// jsonLine has the values of a line that Parse converts to fields of the record after reading the
// whole line.
type jsonLine struct {
	target, path, requestLine, at, logger, serverName []byte

	hasRequest, hasMessage, hasCaddyTime bool // These report whether keys of Caddy's lines were found.
	hasTarget, hasPath, hasTraefik       bool
}

const notJSON = "not a JSON object, or cut off"

// Parse implements [Parser].
func (p *jsonParser) Parse(line []byte, r *Record) (Outcome, string) {
	*r = Record{}
	p.buf, p.line, p.hasUserAgent = p.buf[:0], jsonLine{}, false
	if len(line) == 0 {
		return Other, ""
	}
	c := jsonCursor{data: line}
	if !c.startsObject() || !p.parseObject(&c, lineObject, r) {
		return Malformed, notJSON
	}
	if !c.isAtEnd() {
		return Malformed, "more than one JSON object"
	}
	l := &p.line
	switch {
	case l.hasRequest:
		// http.log.error logs a failed request a second time.
		if len(l.logger) > 0 && !bytes.HasPrefix(l.logger, []byte("http.log.access")) || r.Status == 0 {
			return Other, ""
		}
		p.server, p.hasUserAgent = caddyJSON, true
	case l.hasTarget || l.hasPath || l.requestLine != nil:
		p.server = nginxJSON
		if l.hasTraefik {
			p.server = traefikJSON
		}
	case l.hasMessage && l.hasCaddyTime:
		return Other, ""
	default:
		return Malformed, "a JSON object without a request"
	}
	if l.at != nil {
		if r.At, r.HasTime = p.time.parse(l.at, parseAnyTime); !r.HasTime {
			return Malformed, "the time is invalid"
		}
	}
	if r.Host == nil && string(l.serverName) != "_" { // nginx configurations use _ for any host.
		r.Host = l.serverName
	}
	switch {
	case l.hasTarget:
		r.setTarget(l.target)
	case l.requestLine != nil:
		r.setRequestLine(l.requestLine)
	case l.hasPath:
		r.setTarget(l.path)
	}
	return Request, ""
}

// parseObject parses the object at the cursor and stores the values of known keys.
func (p *jsonParser) parseObject(c *jsonCursor, object jsonObject, r *Record) (ok bool) {
	c.consume('{')
	for {
		key, more, ok := c.readKey()
		if !ok || !more {
			return ok
		}
		field := fieldForKey(object, key)
		switch field {
		case requestField, guardField, headersField:
			ok = p.parseNested(c, field, r)
		case agentsField:
			ok = p.parseUserAgents(c, r)
		default:
			var value []byte
			if value, ok = c.readValue(); ok && field != skippedField {
				p.setField(field, value, r)
			}
		}
		if !ok {
			return false
		}
	}
}

// parseNested parses the value of a key that is an object in Caddy's log. parseNested skips a value
// of another type, except the request line of nginx.
func (p *jsonParser) parseNested(c *jsonCursor, field jsonField, r *Record) (ok bool) {
	if !c.startsObject() {
		value, ok := c.readValue()
		if field == requestField && value != nil {
			p.line.requestLine = unescape(value, &p.buf)
		}
		return ok
	}
	switch field {
	case requestField:
		p.line.hasRequest = true
		return p.parseObject(c, requestObject, r)
	case guardField:
		return p.parseObject(c, guardObject, r)
	}
	return p.parseHeaders(c, r)
}

// parseHeaders finds the User-Agent in an object with the header fields of a request. If possible,
// it does so without reading each field.
func (p *jsonParser) parseHeaders(c *jsonCursor, r *Record) (ok bool) {
	start := c.position
	if !c.skipFlat() {
		return p.parseObject(c, headersObject, r)
	}
	object := c.data[start:c.position]
	agent, ok := findMember(object, keyUserAgent)
	if !ok {
		c.position = start
		return p.parseObject(c, headersObject, r)
	}
	if agent > 0 {
		p.parseUserAgents(&jsonCursor{object, agent}, r)
	}
	return true
}

// keyUserAgent is the key of the User-Agent with its closing quote.
var keyUserAgent = []byte(`User-Agent"`)

// setField stores the value of a key in the record or in p.line.
func (p *jsonParser) setField(field jsonField, value []byte, r *Record) {
	l := &p.line
	switch field {
	case loggerField:
		l.logger = value
	case messageField:
		l.hasMessage = true
	case caddyTimeField:
		l.at, l.hasCaddyTime = value, true
	case timeField:
		if l.at == nil {
			l.at = value
		}
	case statusField:
		r.Status = parseStatus(value)
	case sizeField:
		r.Bytes = parseSize(value)
	case targetField, traefikTargetField:
		l.target, l.hasTarget, l.hasTraefik = unescape(value, &p.buf), true, field == traefikTargetField
	case pathField:
		l.path, l.hasPath = unescape(value, &p.buf), true
	case methodField:
		r.Method = dashToNil(unescape(value, &p.buf))
	case hostField:
		if r.Host == nil {
			r.Host = dashToNil(unescape(value, &p.buf))
		}
	case serverNameField:
		l.serverName = dashToNil(unescape(value, &p.buf))
	case clientField:
		r.Client = value
	case peerField:
		if r.Client == nil {
			r.Client = value
		}
	case agentField:
		r.UserAgent, p.hasUserAgent = dashToNil(unescape(value, &p.buf)), true
	case actionField:
		r.AnsweredByGuard = string(value) == "blocked" || string(value) == "slowed"
	}
}

// parseUserAgents stores the User-Agent from an array of header values, joined as in the handler.
// parseUserAgents skips a value of another type.
func (p *jsonParser) parseUserAgents(c *jsonCursor, r *Record) (ok bool) {
	start := c.position
	if !c.consume('[') {
		_, ok := c.readValue()
		return ok
	}
	for n := 0; ; n++ {
		value, ok := c.readString()
		switch {
		case !ok:
		case n == 0:
			r.UserAgent = unescape(value, &p.buf)
		default:
			r.UserAgent = slices.Concat(r.UserAgent, []byte(", "), unescape(value, &p.buf))
		}
		if !ok || !c.consume(',') {
			break
		}
	}
	if c.consume(']') {
		return true
	}
	c.position = start
	_, ok = c.readValue()
	return ok
}
