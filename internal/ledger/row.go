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

// Row is the data about one crawler at one site, or about several crawlers that share a token.
// Times are in Unix milliseconds.
type Row struct {
	Token         string       `json:"token"`
	Class         string       `json:"class"` // Class is the name of a [uaident.Class].
	Identity      verify.State `json:"identity"`
	NamedByRobots bool         `json:"named,omitempty"` // NamedByRobots is true if robots.txt names the crawler.

	FirstSeen int64 `json:"first_seen"`
	LastSeen  int64 `json:"last_seen"`
	// FirstViolation is the time of the crawler's first disallowed request, or 0.
	FirstViolation int64 `json:"first_violation,omitempty"`

	// RobotsFetch is the crawler's last request for robots.txt, or nil. RequestsSinceFetch is the
	// number of requests after it, or of all requests if RobotsFetch is nil.
	RobotsFetch        *RobotsFetch `json:"robots_fetch,omitempty"`
	RequestsSinceFetch uint64       `json:"since_robots_fetch"`

	// LastAction is the guard's last action on a request of the crawler: judge.Logged,
	// judge.Blocked, or judge.NoAction if there was none.
	LastAction judge.Action `json:"last_action"`

	Series [numResolutions]Series `json:"series"`

	// Responses count the site's responses to the crawler.
	Responses Timeline[ResponseBucket] `json:"answers,omitzero"`

	// Names are the names of the clients that share this row. NamesOfViolators are those with
	// disallowed requests.
	Names            spacesaving.Sketch[string] `json:"names,omitzero"`
	NamesOfViolators spacesaving.Sketch[string] `json:"breakers,omitzero"`

	// These are rules that made requests disallowed or stale.
	Rules      spacesaving.Sketch[RuleKey] `json:"rules"`
	Paths      spacesaving.Sketch[PathKey] `json:"paths"` // These are paths of disallowed and stale requests.
	UserAgents spacesaving.Sketch[string]  `json:"agents"`
	// These are networks of disallowed requests.
	Networks spacesaving.Sketch[netip.Prefix] `json:"networks"`
	// These are recent disallowed requests, oldest first.
	Samples []Sample `json:"samples,omitempty"`
}

// RuleKey is a rule, and the verdict of the requests to count: Disallowed or Stale.
type RuleKey struct {
	Rule
	Verdict judge.Verdict `json:"verdict"`
}

// PathKey is a requested path, and the rule that disallows it. Host and Name are as in [Request].
type PathKey struct {
	Host string `json:"host,omitempty"`
	Name string `json:"name,omitempty"`
	Path string `json:"path"`
	// Blocked reports whether the guard blocked the requests.
	Blocked bool `json:"blocked,omitempty"`
	RuleKey
}

// These are bounds of a row.
const (
	maxRules      = 16
	maxPaths      = 32
	maxUserAgents = 6
	maxNetworks   = 12
	maxSamples    = 24
	maxNames      = 64
)

// sampleInterval is the minimum time between two samples, so that a burst does not replace all
// samples.
const sampleInterval = time.Minute

func (w *Row) countRequest(q *Request) {
	at := q.unixMilli()
	if w.FirstSeen == 0 || at < w.FirstSeen {
		w.FirstSeen = at
	}
	if q.Action != judge.NoAction && (at >= w.LastSeen || w.LastAction == judge.NoAction) {
		w.LastAction = q.Action
	}
	w.LastSeen = max(w.LastSeen, at)
	if w.RobotsFetch == nil || at >= w.RobotsFetch.At {
		w.RequestsSinceFetch++
	}
	for r := range numResolutions {
		if c := w.Series[r].getOrAddBucket(r, r.stepNumber(at)); c != nil {
			w.countInBucket(c, q)
		}
	}
	cloneUserAgent := strings.Clone
	if q.MayRetainUserAgent {
		cloneUserAgent = nil
	}
	w.UserAgents.Add(text.Truncate(q.UserAgent, maxUserAgentBytes), 1, at, maxUserAgents, cloneUserAgent)
	if name := w.clientNameInSharedRow(q.Token, q.Name); name != "" {
		w.Names.Add(name, 1, at, maxNames, strings.Clone)
		if q.Verdict == judge.Disallowed {
			w.NamesOfViolators.Add(name, 1, at, maxNames, strings.Clone)
		}
	}
	if q.Verdict == judge.Disallowed || q.Verdict == judge.Stale {
		w.countRule(q)
	}
}

func (w *Row) countInBucket(c *RequestBucket, q *Request) {
	c.increment(counterForVerdict(q.Verdict))
	if q.Verdict == judge.Disallowed {
		switch {
		case q.Action == judge.Blocked:
			c.increment(CountViolationBlocked)
		case q.Action == judge.Logged && !q.WouldBlock:
			c.increment(CountViolationOnlyLogged)
		}
	}
	if q.Action == judge.Blocked {
		c.increment(CountBlocked)
	}
	if q.WouldBlock {
		c.increment(CountWouldBlock)
	}
	if q.AgainstPreference {
		c.increment(CountAgainstPreference)
		if w.lastFetchedVersion(q) == CurrentVersion {
			c.increment(CountAgainstAfterFetch)
		}
	}
	if q.Slowed {
		c.increment(CountSlowed)
	}
}

// countRule counts a disallowed or stale request by its rule and by its path. For a disallowed
// request, it also updates FirstViolation, the networks and the samples.
func (w *Row) countRule(q *Request) {
	at, key := q.unixMilli(), RuleKey{Rule: q.Rule, Verdict: q.Verdict}
	key.Text, key.Group = text.Truncate(key.Text, maxRuleBytes), text.Truncate(key.Group, maxTokenBytes)
	key = updateRuleLocation(&w.Rules, key, at, key.isSameRule, RuleKey.withVersionAndLine)
	w.Rules.Add(key, 1, at, maxRules, func(k RuleKey) RuleKey {
		k.Text, k.Group = strings.Clone(k.Text), strings.Clone(k.Group)
		return k
	})
	// Share the strings of the rule.
	key = w.Rules.Items[w.Rules.PositionOf(key)].Key
	path := text.Truncate(q.Target, maxTargetBytes)
	pathKey := PathKey{Host: q.Host, Name: w.clientNameInSharedRow(q.Token, q.Name), Path: path, Blocked: q.Action == judge.Blocked, RuleKey: key}
	pathKey = updateRuleLocation(&w.Paths, pathKey, at, pathKey.isSamePath, PathKey.withVersionAndLine)
	w.Paths.Add(pathKey, 1, at, maxPaths, func(k PathKey) PathKey {
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
		return // This also skips late requests from another buffer.
	}
	if len(w.Samples) >= maxSamples {
		w.Samples = slices.Delete(w.Samples, 0, 1+len(w.Samples)-maxSamples)
	}
	w.Samples = append(w.Samples, Sample{
		At: at, Host: strings.Clone(pathKey.Host), Name: strings.Clone(pathKey.Name), Method: cloneTruncated(q.Method, maxMethodBytes), Path: cloneTruncated(path, maxTargetBytes), Rule: key.Rule, Action: q.Action,
		Network: q.Network, UserAgent: w.internUserAgent(q.UserAgent), FetchedVersion: w.lastFetchedVersion(q),
	})
}

// internUserAgent returns the User-Agent as a string that the row owns.
func (w *Row) internUserAgent(userAgent string) string {
	userAgent = text.Truncate(userAgent, maxUserAgentBytes)
	if i := w.UserAgents.PositionOf(userAgent); i >= 0 {
		return w.UserAgents.Items[i].Key
	}
	return cloneTruncated(userAgent, maxUserAgentBytes)
}

// lastFetchedVersion compares the robots.txt that the crawler fetched last with the version that
// decided the request.
func (w *Row) lastFetchedVersion(q *Request) FetchedVersion {
	switch fetch := w.RobotsFetch; {
	case fetch == nil:
		return NeverFetched
	case fetch.Version == q.Rule.Version, fetch.At >= q.VersionFetchedAt.UnixMilli():
		return CurrentVersion
	}
	return OldVersion
}

// merge adds the data of another row to w.
func (w *Row) merge(other *Row) {
	if other.FirstSeen != 0 && (w.FirstSeen == 0 || other.FirstSeen < w.FirstSeen) {
		w.FirstSeen = other.FirstSeen
	}
	if other.FirstViolation != 0 && (w.FirstViolation == 0 || other.FirstViolation < w.FirstViolation) {
		w.FirstViolation = other.FirstViolation
	}
	// A row that was seen later can have no action, because another instance acted on the crawler.
	if other.LastAction != judge.NoAction && (other.LastSeen > w.LastSeen || w.LastAction == judge.NoAction) {
		w.LastAction = other.LastAction
	}
	w.LastSeen = max(w.LastSeen, other.LastSeen)
	w.NamedByRobots = w.NamedByRobots || other.NamedByRobots
	switch {
	case other.RobotsFetch == nil && w.RobotsFetch == nil:
		w.RequestsSinceFetch += other.RequestsSinceFetch
	case w.RobotsFetch == nil, other.RobotsFetch != nil && other.RobotsFetch.At > w.RobotsFetch.At:
		// The number of requests since then is unknown in the other ledger.
		w.RobotsFetch, w.RequestsSinceFetch = other.RobotsFetch, other.RequestsSinceFetch
	}
	for r := range numResolutions {
		w.Series[r].merge(r, other.Series[r])
	}
	w.Responses.merge(&other.Responses, (*ResponseBucket).addCounts)
	if isSharedToken(w.Token) {
		w.Names.Merge(other.namesForSharedRow(other.Names, verdictCounters[:]...), maxNames)
		w.NamesOfViolators.Merge(other.namesForSharedRow(other.NamesOfViolators, CountDisallowed), maxNames)
	}
	w.Rules.Merge(alignRuleLocations(&w.Rules, other.Rules, (*RuleKey).isSameRule, RuleKey.withVersionAndLine), maxRules)
	w.Paths.Merge(alignRuleLocations(&w.Paths, other.Paths, (*PathKey).isSamePath, PathKey.withVersionAndLine), maxPaths)
	w.UserAgents.Merge(other.UserAgents, maxUserAgents)
	w.Networks.Merge(other.Networks, maxNetworks)
	w.Samples = append(slices.Clone(w.Samples), other.Samples...)
	slices.SortStableFunc(w.Samples, func(a, b Sample) int { return cmp.Compare(a.At, b.At) })
	w.Samples = w.Samples[max(0, len(w.Samples)-maxSamples):]
}

// prune removes data older than retention. prune reports whether any data remain. now is in Unix
// milliseconds.
func (w *Row) prune(now int64, retention time.Duration) bool {
	w.LastSeen = min(w.LastSeen, now)
	oldest := now - retention.Milliseconds()
	for r := range numResolutions {
		w.Series[r].prune(r, now, retention)
	}
	w.Responses.prune(now, retention)
	w.Names.Prune(now, retention)
	w.NamesOfViolators.Prune(now, retention)
	w.Rules.Prune(now, retention)
	w.Paths.Prune(now, retention)
	w.UserAgents.Prune(now, retention)
	w.Networks.Prune(now, retention)
	w.Samples = slices.DeleteFunc(w.Samples, func(s Sample) bool { return s.At < oldest || s.At > now })
	if w.RobotsFetch != nil && (w.RobotsFetch.At < oldest || w.RobotsFetch.At > now) {
		w.RobotsFetch = nil
	}
	return w.LastSeen >= oldest
}
