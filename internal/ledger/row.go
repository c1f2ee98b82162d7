package ledger

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Row is what is known of one crawler at one site. Times are in Unix
// milliseconds.
type Row struct {
	Token    string       `json:"token"`
	Class    string       `json:"class"` // the word of a uaident.Class
	Identity verify.State `json:"identity"`
	Named    bool         `json:"named,omitempty"` // by the robots.txt

	FirstSeen int64 `json:"first_seen"`
	LastSeen  int64 `json:"last_seen"`
	// FirstViolation is the time of its first disallowed request, 0 for none.
	FirstViolation int64 `json:"first_violation,omitempty"`

	// Read is its last reading of the robots.txt, and SinceRead the number of
	// requests after that, or all if it was never seen to read it.
	Read      *Read  `json:"read,omitempty"`
	SinceRead uint64 `json:"since_read"`
	next      *Row   // in the index of the site

	// The number of Read among the readings of this ledger, 0 if another has
	// seen it, and the one before it: requests that came before Read may be
	// counted after it.
	reading    uint64
	readBefore *Read

	// LastAction is what was done about its last request outside robots.txt.
	LastAction judge.Action `json:"last_action"`

	Series [numResolutions]Series `json:"series"`

	// Answers are what the site answered, see Answered.
	Answers [numAnswerSeries]AnswerSeries `json:"answers,omitzero"`

	// Names are those of the clients that share this row, and Breakers those of
	// its requests outside robots.txt.
	Names    spacesaving.Sketch[string] `json:"names,omitzero"`
	Breakers spacesaving.Sketch[string] `json:"breakers,omitzero"`

	Rules    spacesaving.Sketch[RuleKey]      `json:"rules"`             // broken, or not yet known to it
	Paths    spacesaving.Sketch[PathKey]      `json:"paths"`             // of these requests
	Agents   spacesaving.Sketch[string]       `json:"agents"`            // its User-Agents
	Networks spacesaving.Sketch[netip.Prefix] `json:"networks"`          // of its requests outside robots.txt
	Samples  []Sample                         `json:"samples,omitempty"` // of these, the earliest first
}

// Read is what a crawler got for its last request for a robots.txt.
type Read struct {
	At      int64   `json:"at"`
	Status  int     `json:"status"`
	Version Version `json:"version"` // zero where the text was not seen
}

// RuleKey is a rule with what it meant for a request: Disallowed or Stale.
type RuleKey struct {
	Rule
	Verdict judge.Verdict `json:"verdict"`
}

// PathKey is a request target with the rule that forbids it. Host and Name are
// those of a [Request].
type PathKey struct {
	Host string `json:"host,omitempty"`
	Name string `json:"name,omitempty"`
	Path string `json:"path"`
	// Blocked says that the request was blocked. Those that passed are counted apart.
	Blocked bool `json:"blocked,omitempty"`
	RuleKey
}

// How many items of each kind a row keeps.
const (
	maxRules    = 16
	maxPaths    = 32
	maxAgents   = 6
	maxNetworks = 12
	maxSamples  = 24
	maxNames    = 64
)

// sampleInterval is the least time between two samples: the latest requests of
// a burst would displace all others.
const sampleInterval = time.Minute

// note counts a request.
func (w *Row) note(q *counted) {
	at := q.at
	if w.FirstSeen == 0 || at < w.FirstSeen {
		w.FirstSeen = at
	}
	if q.Action != judge.None && (at >= w.LastSeen || w.LastAction == judge.None) {
		w.LastAction = q.Action
	}
	w.LastSeen = max(w.LastSeen, at)
	w.Named = w.Named || q.Named
	if q.readings >= w.reading && (w.Read == nil || at >= w.Read.At) {
		w.SinceRead++
	}
	for r := range numResolutions {
		if c := w.Series[r].cell(r, r.slot(at)); c != nil {
			w.count(c, q)
		}
	}
	keep := strings.Clone
	if q.lasting != "" {
		keep = nil // it was cut before
	}
	w.Agents.Add(text.Cut(q.UserAgent, maxAgent), 1, at, maxAgents, keep)
	if name := w.nameOf(q.Token, q.Name); name != "" {
		w.Names.Add(name, 1, at, maxNames, strings.Clone)
		if q.Verdict == judge.Disallowed {
			w.Breakers.Add(name, 1, at, maxNames, strings.Clone)
		}
	}
	if q.Verdict == judge.Disallowed || q.Verdict == judge.Stale {
		w.noteRule(q)
	}
}

// count counts a request in the cell of a step.
func (w *Row) count(c *Cell, q *counted) {
	c.hit(countOf(q.Verdict))
	if q.Verdict == judge.Disallowed {
		switch {
		case q.Action == judge.Blocked:
			c.hit(CountViolationBlocked)
		case q.Action == judge.Logged && !q.WouldBlock:
			c.hit(CountViolationOnlyLogged)
		}
	}
	if q.Action == judge.Blocked {
		c.hit(CountBlocked)
	}
	if q.WouldBlock {
		c.hit(CountWouldBlock)
	}
	if q.Against {
		c.hit(CountAgainst)
		if w.known(q) == CurrentText {
			c.hit(CountTold)
		}
	}
	if q.Slowed {
		c.hit(CountSlowed)
	}
}

// noteRule counts a request that a rule forbids.
func (w *Row) noteRule(q *counted) {
	at, key := q.at, RuleKey{Rule: q.Rule, Verdict: q.Verdict}
	key.Text, key.Group = text.Cut(key.Text, maxRule), text.Cut(key.Group, maxToken)
	key = continued(&w.Rules, key, at, RuleKey.same, RuleKey.moved)
	w.Rules.Add(key, 1, at, maxRules, func(k RuleKey) RuleKey {
		k.Text, k.Group = strings.Clone(k.Text), strings.Clone(k.Group)
		return k
	})
	// The texts of a rule are kept once.
	key = w.Rules.Items[w.Rules.Index(key)].Key
	path := text.Cut(q.Target, maxTarget)
	where := PathKey{Host: q.Host, Name: w.nameOf(q.Token, q.Name), Path: path, Blocked: q.Action == judge.Blocked, RuleKey: key}
	where = continued(&w.Paths, where, at, PathKey.same, PathKey.moved)
	w.Paths.Add(where, 1, at, maxPaths, func(k PathKey) PathKey {
		k.Host, k.Name, k.Path = strings.Clone(k.Host), strings.Clone(k.Name), strings.Clone(k.Path)
		return k
	})
	if q.Verdict != judge.Disallowed {
		return
	}
	if w.FirstViolation == 0 || at < w.FirstViolation {
		w.FirstViolation = at
	}
	if q.Network.IsValid() {
		w.Networks.Add(q.Network, 1, at, maxNetworks, nil)
	}
	if n := len(w.Samples); n > 0 && at-w.Samples[n-1].At < sampleInterval.Milliseconds() {
		return // also what comes late from another buffer
	}
	if len(w.Samples) >= maxSamples {
		w.Samples = slices.Delete(w.Samples, 0, 1+len(w.Samples)-maxSamples)
	}
	w.Samples = append(w.Samples, Sample{
		At: at, Host: strings.Clone(where.Host), Name: strings.Clone(where.Name), Method: own(q.Method, maxMethod), Path: own(path, maxTarget), Rule: key.Rule, Action: q.Action,
		Network: q.Network, Agent: w.agent(q.UserAgent), Known: w.known(q),
	})
}

// agent returns a User-Agent as the row keeps it.
func (w *Row) agent(userAgent string) string {
	userAgent = text.Cut(userAgent, maxAgent)
	if i := w.Agents.Index(userAgent); i >= 0 {
		return w.Agents.Items[i].Key
	}
	return own(userAgent, maxAgent)
}

// known tells what the crawler knows of the rules.
func (w *Row) known(q *counted) Known {
	read := w.Read
	if q.readings < w.reading {
		read = w.readBefore
	}
	switch {
	case read == nil:
		return Never
	case read.Version == q.Rule.Version, read.At >= q.since:
		return CurrentText
	}
	return OldText
}

// noteRead takes note of a reading and its number.
func (w *Row) noteRead(read Read, number uint64) {
	if w.Read == nil || read.At >= w.Read.At {
		w.Read, w.readBefore = &read, w.Read
		w.SinceRead, w.reading = 0, number
	}
}

// merge adds what another row has counted.
func (w *Row) merge(other *Row) {
	if other.FirstSeen != 0 && (w.FirstSeen == 0 || other.FirstSeen < w.FirstSeen) {
		w.FirstSeen = other.FirstSeen
	}
	if other.FirstViolation != 0 && (w.FirstViolation == 0 || other.FirstViolation < w.FirstViolation) {
		w.FirstViolation = other.FirstViolation
	}
	if other.LastSeen > w.LastSeen {
		w.LastSeen, w.LastAction = other.LastSeen, other.LastAction
	}
	w.Named = w.Named || other.Named
	switch {
	case other.Read == nil && w.Read == nil:
		w.SinceRead += other.SinceRead
	case w.Read == nil, other.Read != nil && other.Read.At > w.Read.At:
		// What the other place saw in the meantime is not known.
		w.Read, w.SinceRead = other.Read, other.SinceRead
		w.reading, w.readBefore = other.reading, other.readBefore
	}
	for r := range numResolutions {
		for _, cell := range other.Series[r] {
			w.Series[r].add(r, cell)
		}
	}
	for i := range w.Answers {
		w.Answers[i].merge(answerResolution(i), other.Answers[i])
	}
	if isShared(w.Token) {
		w.Names.Merge(other.asNames(other.Names, verdictCounts[:]...), maxNames)
		w.Breakers.Merge(other.asNames(other.Breakers, CountDisallowed), maxNames)
	}
	w.Rules.Merge(aligned(&w.Rules, other.Rules, RuleKey.same, RuleKey.moved), maxRules)
	w.Paths.Merge(aligned(&w.Paths, other.Paths, PathKey.same, PathKey.moved), maxPaths)
	w.Agents.Merge(other.Agents, maxAgents)
	w.Networks.Merge(other.Networks, maxNetworks)
	w.Samples = append(slices.Clone(w.Samples), other.Samples...)
	slices.SortStableFunc(w.Samples, func(a, b Sample) int { return cmp.Compare(a.At, b.At) })
	w.Samples = w.Samples[max(0, len(w.Samples)-maxSamples):]
}

// prune forgets what is older than retention. It reports whether anything is
// left.
func (w *Row) prune(now int64, retention time.Duration) bool {
	w.LastSeen = min(w.LastSeen, now)
	oldest := now - retention.Milliseconds()
	for r := range numResolutions {
		w.Series[r].prune(r, now, retention)
	}
	for i := range w.Answers {
		w.Answers[i].prune(answerResolution(i), now, retention)
	}
	w.Names.Prune(now, retention)
	w.Breakers.Prune(now, retention)
	w.Rules.Prune(now, retention)
	w.Paths.Prune(now, retention)
	w.Agents.Prune(now, retention)
	w.Networks.Prune(now, retention)
	w.Samples = slices.DeleteFunc(w.Samples, func(s Sample) bool { return s.At < oldest || s.At > now })
	if w.Read != nil && (w.Read.At < oldest || w.Read.At > now) {
		w.Read = nil
	}
	return w.LastSeen >= oldest
}

// clone returns a copy that shares nothing but the memory of strings.
func (w *Row) clone() Row {
	c := *w
	c.next = nil
	if w.Read != nil {
		c.Read = new(*w.Read)
	}
	for r := range numResolutions {
		c.Series[r] = slices.Clone(w.Series[r])
	}
	for i := range w.Answers {
		c.Answers[i] = slices.Clone(w.Answers[i])
	}
	c.Names, c.Breakers = w.Names.Clone(), w.Breakers.Clone()
	c.Rules, c.Paths, c.Agents, c.Networks = w.Rules.Clone(), w.Paths.Clone(), w.Agents.Clone(), w.Networks.Clone()
	c.Samples = slices.Clone(w.Samples)
	return c
}
