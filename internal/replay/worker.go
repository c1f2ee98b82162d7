package replay

import (
	"bytes"
	"hash/maphash"
	"net/netip"
	"unsafe"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// plan is what all workers go by. It does not change.
type plan struct {
	registry     *uaident.Registry
	versions     []version
	byHost       map[string]span // which are of which host; nil if they are of all
	before       *version        // of the text before an edit, nil if none is looked at
	sites        siteList
	since, until int64
	keepSlashes  bool
	crawlers     *crawlers
	settings     *Settings
}

// worker judges lines. It allocates nothing for a line, and nothing that it
// keeps is keyed by what a client can invent.
type worker struct {
	*plan
	tally   *tally
	parsers map[*Format]parser
	known   []identity // what User-Agents were found to be, by hash
	seed    maphash.Seed
	record  record
	target  policy.Target
	version int // the one that was current for the last line
	span    span
	path    []byte
	host    hostMemo
	names   [8]string
}

// identity is what a User-Agent is by one version of the robots.txt.
type identity struct {
	userAgent []byte
	hash      uint64
	version   int32
	used      bool

	browser  bool
	client   uaident.Identity // without what refers to userAgent
	crawler  int32
	group    *policy.Selection
	named    bool // the group names the client
	exempt   bool
	excused  bool // enforce does not block it
	wildcard bool
	before   *identity // what it is by the text before the edit
}

// Bounds of the memory for User-Agents: how many, and how long ones.
const (
	knownIdentities  = 2048
	maxKnownIdentity = 512
)

func newWorker(p *plan) *worker {
	t := newTally()
	if p.before != nil {
		t.changes = newChangeTally()
	}
	return &worker{
		plan: p, tally: t, span: span{0, len(p.versions)}, parsers: make(map[*Format]parser),
		known: make([]identity, knownIdentities+1), seed: maphash.MakeSeed(),
	}
}

// work judges the lines of a chunk.
func (w *worker) work(k *chunk) {
	if k.tooLong {
		w.tally.lines++
		w.tally.tooLong++
		k.lines = 1
		w.malformed(k, "longer than 512 KiB", k.data)
		return
	}
	if len(k.data) == 0 {
		return
	}
	p := w.parsers[k.in.format]
	if p == nil {
		p = k.in.format.parser()
		w.parsers[k.in.format] = p
	}
	if p, ok := p.(*w3cParser); ok {
		p.fields, p.date = append(p.fields[:0], k.fields...), append(p.date[:0], k.date...)
	}
	for data := k.data; len(data) > 0; {
		line := data
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			line, data = data[:i], data[i+1:]
		} else {
			data = nil
		}
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		k.lines++
		switch what, why := p.parse(line, &w.record); what {
		case isMalformed:
			w.malformed(k, why, line)
		case isOther:
			w.tally.other++
		default:
			w.judge(k)
		}
	}
	w.tally.lines += uint64(k.lines)
}

// malformed counts a line that is no line of the format.
func (w *worker) malformed(k *chunk, why string, line []byte) {
	w.tally.malformed++
	k.malformed++
	if len(k.examples) < maxExamples {
		k.examples = append(k.examples, example{line: k.lines, why: why, text: string(line[:min(len(line), 200)])})
	}
}

// judge judges the request of the record.
func (w *worker) judge(k *chunk) {
	r, t := &w.record, w.tally
	if r.hasTime {
		if r.at < w.since || r.at >= w.until {
			t.otherTime++
			return
		}
		t.first, t.last = min(t.first, r.at), max(t.last, r.at)
	}
	if len(r.host) > 0 {
		if !w.host.matches(w, r) {
			t.otherSite++
			return
		}
	} else if w.byHost != nil {
		t.otherSite++
		t.noHost++
		return
	}
	if len(r.target) == 0 {
		t.other++
		return
	}
	if w.before != nil {
		w.compare()
		return
	}
	w.current()
	who := w.identify(r.userAgent)
	if who.browser {
		t.browser(r)
		return
	}
	path := w.pathOf(r.target)
	isRobots := string(path) == "/robots.txt"
	if !isRobots && judge.IsACMEChallenge(methodOf(r.method), unsafeString(path)) {
		t.other++
		return
	}
	t.requests++
	c := t.crawler(who.crawler)
	c.requests++
	if r.hasTime {
		c.last = max(c.last, r.at)
		if d := t.onDay(r.at); d != nil {
			d.requests++
		}
	}
	current := &w.versions[w.version]
	if current.first && !current.single() && r.hasTime && r.at < current.from {
		t.beforeFirst++
	}
	switch {
	case isRobots:
		c.robots++
		if judge.IsReading(methodOf(r.method), r.status) {
			c.reading(r.at, r.status)
			if !current.single() && r.hasTime {
				k.events = append(k.events, event{kind: readEvent, crawler: who.crawler, version: int32(w.version), at: r.at, network: network(r.client), status: r.status})
			}
		}
		return
	case who.exempt, who.spared(r):
		c.exempt++
		return
	}
	w.target.Set(unsafeString(r.target), w.keepSlashes)
	v := who.group.JudgeTarget(&w.target)
	if v.Allowed {
		return
	}
	path = rawPath(r.target)
	if allows := w.heldThatAllow(current, who); allows != 0 {
		from := len(k.paths)
		k.paths = append(k.paths, path[:min(len(path), maxPathSize)]...)
		k.events = append(k.events, event{
			kind: heldEvent, crawler: who.crawler, at: r.at, network: network(r.client), allows: allows,
			version: int32(w.version), spared: who.excused, rule: v.Rule, group: v.Group.Name, path: [2]int{from, len(k.paths)},
		})
		return
	}
	if who.excused {
		c.spared++
	}
	t.outside(who.crawler, int32(w.version), v.Rule, v.Group.Name, path, r.at, r.hasTime)
}

// current finds the version that was current at the time of the record.
func (w *worker) current() {
	if w.byHost != nil {
		w.span = w.host.span
	}
	from, to := w.span.from, w.span.to
	if to-from == 1 {
		w.version = from
		return
	}
	if !w.record.hasTime {
		w.version = to - 1
		return
	}
	if v := &w.versions[w.version]; w.version < from || w.version >= to || w.record.at < v.from && !v.first || w.record.at >= v.until {
		w.version = from + at(w.versions[from:to], w.record.at)
	}
}

// identify tells who a User-Agent claims to be. The answer holds until the next
// call.
func (w *worker) identify(userAgent []byte) *identity {
	if len(userAgent) > maxKnownIdentity {
		who := &w.known[knownIdentities]
		w.ask(who, unsafeString(userAgent))
		return who
	}
	hash := maphash.Bytes(w.seed, userAgent)
	who := &w.known[hash%knownIdentities]
	if who.used && who.hash == hash && who.version == int32(w.version) && bytes.Equal(who.userAgent, userAgent) {
		return who
	}
	who.userAgent = append(who.userAgent[:0], userAgent...)
	who.hash, who.version, who.used = hash, int32(w.version), true
	w.ask(who, unsafeString(who.userAgent))
	return who
}

// ask identifies a User-Agent.
func (w *worker) ask(who *identity, userAgent string) {
	if w.before != nil {
		w.askBoth(who, userAgent)
		return
	}
	w.askOf(who, userAgent, &w.versions[w.version])
}

// askOf identifies a User-Agent and finds its group in a version, as the handler
// does.
func (w *worker) askOf(who *identity, userAgent string, current *version) {
	client := w.registry.IdentifyWith(userAgent, current.overlay)
	if who.browser = client.Class == uaident.Browser; who.browser {
		return
	}
	who.wildcard, who.excused = w.settings.Wildcard(client), w.settings.Spares(client)
	who.client = uaident.Identity{Crawler: client.Crawler, Class: client.Class}
	claim := judge.Claim{Chain: client.AppendChain(w.names[:0]), Wildcard: who.wildcard, Forgiving: client.Forgiving()}
	who.group, who.named, who.exempt = claim.Group(current.robots)
	who.exempt = who.exempt || w.settings.Exempt(client)
	group := ""
	if who.named {
		group = who.group.Group().Name
	}
	name := judge.KnownName(client, group)
	if name == "" {
		name = otherName
	}
	who.crawler = w.crawlers.id(crawlerKey{name, client.Class})
}

// heldThatAllow returns which versions before the current one allow the target,
// of those that a crawler may still follow that has not read it since: a bit for
// each, the newest first.
func (w *worker) heldThatAllow(current *version, who *identity) (allows uint16) {
	if len(current.standing.Past) == 0 || !w.record.hasTime {
		return 0
	}
	held := current.standing.Held(timeOf(w.record.at), noTime, w.settings.Grace)
	if len(held) == 0 {
		return 0
	}
	client := w.registry.IdentifyWith(unsafeString(w.record.userAgent), current.overlay)
	claim := judge.Request{Client: client, Method: methodOf(w.record.method), Target: unsafeString(w.record.target)}.Claim(w.names[:0], who.wildcard)
	for i, v := range held {
		if claim.Verdict(v.Robots, &w.target).Allowed {
			allows |= 1 << i
		}
	}
	return allows
}

// spared reports whether the * group, if that is the client's, is not meant for
// the request because of what it asks for.
func (who *identity) spared(r *record) bool {
	return !who.named && who.group != nil &&
		judge.Request{Client: who.client, Method: methodOf(r.method), Target: unsafeString(r.target)}.Spared() != judge.NotSpared
}

// pathOf returns the decoded path of a target, without the query.
func (w *worker) pathOf(target []byte) []byte {
	w.path = w.path[:0]
	return unpercent(rawPath(target), &w.path)
}

// rawPath returns the path of a target as sent, without the query.
func rawPath(target []byte) []byte {
	if target[0] != '/' { // the absolute form
		target = target[bytes.Index(target, []byte("://"))+3:]
		i := bytes.IndexAny(target, "/?")
		if i < 0 || target[i] == '?' {
			return root
		}
		target = target[i:]
	}
	if i := bytes.IndexByte(target, '?'); i >= 0 {
		target = target[:i]
	}
	return target
}

var root = []byte{'/'}

// methodOf returns a method as a string; GET where the format has none.
func methodOf(b []byte) string {
	switch string(b) {
	case "GET", "":
		return "GET"
	case "HEAD":
		return "HEAD"
	}
	return "POST" // all others are alike here
}

// network returns the network of an address in a log, the zero Prefix if it is
// none.
func network(b []byte) netip.Prefix {
	addr, err := netip.ParseAddr(unsafeString(b))
	if err != nil {
		return netip.Prefix{}
	}
	return ledger.Network(addr.WithZone(""))
}

// unsafeString returns the bytes as a string without copying them. It is for
// callees that keep nothing of it.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
