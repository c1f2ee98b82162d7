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
	text     [maxWhole]byte // the key with what stands around it and the value, such as ,"method":"GET"
	toKey    uint8          // where in it the key ends, with what stands around it; 0 if that was long
	toWhole  uint8          // where the value ends; 0 if that was long
	from, to uint8          // where in it the value stands
	key      caddyKey
	others   uint8 // how often another value came
}

// Bounds of what is kept to be compared, in bytes.
const (
	maxKey   = 64
	maxWhole = maxKey + 32
)

// relearn is after how many other values one of them is kept.
const relearn = 8

// member reads the next key of an object that is of interest, and its value, which is nil if it
// is no string and no number. An object that stands at one of the keys to be opened, each a bit,
// is left to be read. more is false at the end of the object; ok is false where there is neither.
func (p *caddyParser) member(c *jsonCursor, opened uint32) (key caddyKey, value []byte, more, ok bool) {
	for {
		m, start := &p.members[p.nth%len(p.members)], c.i
		p.nth++
		rest := c.b[start:]
		if n := int(m.toWhole); n > 0 && n < len(rest) && (rest[n] == ',' || rest[n] == '}') && string(rest[:n]) == string(m.text[:n]) {
			c.i += n
			if m.key == otherKey {
				continue
			}
			return m.key, rest[m.from:m.to], true, true
		}
		if n := int(m.toKey); n > 0 && n <= len(rest) && string(rest[:n]) == string(m.text[:n]) { // none is the beginning of another
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
		if key != otherKey || !ok {
			return key, value, true, ok
		}
	}
}

func (m *caddyMember) learn(key caddyKey, text []byte) {
	m.key, m.toKey, m.toWhole, m.others = key, 0, 0, 0
	if len(text) <= maxKey {
		m.toKey = uint8(copy(m.text[:], text))
	}
}

// learnValue keeps a value if it is short.
func (m *caddyMember) learnValue(whole []byte, from int, value []byte) {
	m.others++
	if m.others%relearn != 1 || m.toKey == 0 || len(whole) > maxWhole {
		return
	}
	if from < len(whole) && whole[from] == '"' {
		from++
	}
	m.toWhole, m.from, m.to = uint8(copy(m.text[:], whole)), uint8(from), uint8(from+len(value))
}
