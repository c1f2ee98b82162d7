package logformat

// caddyKey is a key in a line of Caddy's log.
type caddyKey uint8

const (
	otherKey caddyKey = iota // of no interest
	requestKey
	timeKey
	loggerKey
	statusKey
	sizeKey
	headersKey
	tlsKey
	targetKey
	methodKey
	hostKey
	clientKey
	remoteKey
	guardKey
	actionKey
)

var caddyKeys = map[string]caddyKey{
	"request": requestKey, "ts": timeKey, "logger": loggerKey, "status": statusKey, "size": sizeKey,
	"headers": headersKey, "tls": tlsKey, "uri": targetKey, "method": methodKey, "host": hostKey, "client_ip": clientKey, "remote_ip": remoteKey,
	"robots_guard": guardKey, "action": actionKey,
}

// caddyMember is a key and a value as a line before had them. The server writes the same
// keys in each line, in the same order, and some with the same values: to compare them is
// faster than to look for their ends.
type caddyMember struct {
	key      caddyKey
	text     []byte // the key with what stands around it, such as ,"method":
	whole    []byte // the same with the value, such as ,"method":"GET"; empty if that was long
	from, to int    // where the value stands in it
	others   uint8  // how often another value came
}

// Bounds of what is kept to be compared, in bytes.
const (
	maxKey   = 64
	maxWhole = maxKey + 32
)

// relearn is after how many other values one of them is kept.
const relearn = 8

// member reads the next key of an object and its value, which is nil if it is no string and
// no number. An object that stands at one of the keys to be opened, each a bit, is left to be
// read. more is false at the end of the object; ok is false where there is neither.
func (p *caddyParser) member(c *jsonCursor, opened uint32) (key caddyKey, value []byte, more, ok bool) {
	m, start := &p.members[p.nth%len(p.members)], c.i
	p.nth++
	rest := c.b[start:]
	if n := len(m.whole); n > 0 && n < len(rest) && (rest[n] == ',' || rest[n] == '}') && string(rest[:n]) == string(m.whole) {
		c.i += n
		return m.key, rest[m.from:m.to], true, true
	}
	if n := len(m.text); n > 0 && n <= len(rest) && string(rest[:n]) == string(m.text) { // none is the beginning of another
		key, c.i = m.key, start+n
	} else {
		raw, more, ok := c.key()
		if !more || !ok {
			return otherKey, nil, more, ok
		}
		key = caddyKeys[string(raw)]
		m.learn(key, c.b[start:c.i])
	}
	if opened>>key&1 != 0 && c.startsObject() {
		return key, nil, true, true
	}
	c.space()
	from := c.i
	if value, ok = c.value(); ok && value != nil {
		m.learnValue(c.b[start:c.i], from-start, value)
	}
	return key, value, true, ok
}

func (m *caddyMember) learn(key caddyKey, text []byte) {
	m.key, m.text, m.whole, m.others = key, m.text[:0], m.whole[:0], 0
	if len(text) <= maxKey {
		m.text = append(m.text, text...)
	}
}

// learnValue keeps a value if it is short.
func (m *caddyMember) learnValue(whole []byte, from int, value []byte) {
	m.others++
	if m.others%relearn != 1 || len(m.text) == 0 || len(whole) > maxWhole {
		return
	}
	if from < len(whole) && whole[from] == '"' {
		from++
	}
	m.whole, m.from, m.to = append(m.whole[:0], whole...), from, from+len(value)
}
