package replay

import (
	"bytes"
	"hash/maphash"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/replay/logformat"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// replayPlan has the settings that all workers share. It is immutable, except crawlers.
type replayPlan struct {
	registry *uaident.Registry
	versions []datedVersion
	// byHost has the versions of each host. It is nil if all hosts share the versions.
	byHost         map[string]versionRange
	hosts          hostList
	since, until   int64
	crawlers       *crawlerNumbers
	collectSources bool           // collectSources is true if sources of violations are collected.
	rate           *rate.Settings // rate is nil if the report contains no rates.
	collectPaths   bool           // collectPaths is true if a [ChallengeReport] is made.
}

// worker judges the requests in chunks of the logs. Most lines cause no allocation. The maps with
// keys that clients choose have a maximum size, so the memory is bounded.
type worker struct {
	*replayPlan
	tally        *tally
	parsers      map[*logformat.Format]logformat.Parser
	identities   []cachedIdentity // identities is a cache of identities. The index is the hash of the User-Agent.
	seed         maphash.Seed
	record       logformat.Record
	scratch      judge.Scratch
	result       judge.Result
	version      int // version is the version of the last line.
	versionRange versionRange
	path         []byte
	hostCache    hostCache
}

func newWorker(p *replayPlan) *worker {
	return &worker{
		replayPlan: p, tally: newTally(), versionRange: versionRange{0, len(p.versions)}, parsers: make(map[*logformat.Format]logformat.Parser),
		identities: make([]cachedIdentity, maxIdentities+1), seed: maphash.MakeSeed(),
	}
}

// processChunk parses the lines of a chunk and judges their requests.
func (w *worker) processChunk(k *chunk) {
	if k.isTooLong {
		w.tally.lines++
		w.tally.tooLong++
		k.lines = 1
		w.countMalformed(k, "longer than 512 KiB", k.data)
		return
	}
	if len(k.data) == 0 {
		return
	}
	p := w.parsers[k.input.format]
	if p == nil {
		p = k.input.format.NewParser()
		w.parsers[k.input.format] = p
	}
	for line := range bytes.Lines(k.data) {
		line = logformat.TrimLineEnd(line)
		k.lines++
		switch what, why := p.Parse(line, &w.record); what {
		case logformat.Malformed:
			w.countMalformed(k, why, line)
		case logformat.Other:
			w.tally.otherLines++
		default:
			w.judgeRecord(k)
		}
	}
	w.tally.lines += uint64(k.lines)
}

// countMalformed counts a malformed line, and keeps the first lines as examples.
func (w *worker) countMalformed(k *chunk, why string, line []byte) {
	w.tally.malformed++
	k.malformed++
	if len(k.examples) < maxExamples {
		k.examples = append(k.examples, malformedLine{line: k.lines, reason: why, text: string(line[:min(len(line), 200)])})
	}
}

// judgeRecord judges the request in w.record and counts the result.
func (w *worker) judgeRecord(k *chunk) {
	r, t := &w.record, w.tally
	if !w.isSelected() {
		return
	}
	w.selectVersion()
	who := w.identify(r.UserAgent)
	if who.isBrowser {
		t.addBrowser(r)
		if w.collectPaths {
			w.countForChallenge(who, false)
		}
		return
	}
	current := &w.versions[w.version]
	w.judgeRequest(who, current)
	if w.result.Reason == judge.ReasonACMEChallenge {
		t.otherLines++
		return
	}
	t.requests++
	c := t.crawlerCounts(who.crawlerNumber)
	c.requests++
	w.countResponse(c)
	if r.HasTime {
		c.lastRequest = max(c.lastRequest, r.At)
	}
	if current.isFirst && !current.isOnlyOfHost() && r.HasTime && r.At < current.from {
		t.beforeFirst++
	}
	if w.collectPaths && w.result.Verdict != judge.Disallowed {
		w.countForChallenge(who, false)
	}
	switch {
	case w.result.Reason == judge.ReasonRobotsTxt:
		c.robotsRequests++
		if judge.IsRobotsFetch(methodText(r.Method), r.Status) {
			c.addFetch(r.At, r.Status)
		}
	case w.result.Verdict == judge.Disallowed:
		w.countDisallowed(k, current, who, c)
	default:
		if w.result.Verdict == judge.Exempt {
			c.exempt++
		}
		w.queueRateEvent(k, who, w.findLimits(k, current, who))
	}
}

// isSelected reports whether the options select the time and the host of w.record. It counts a line
// that is not selected.
func (w *worker) isSelected() bool {
	r, t := &w.record, w.tally
	if r.HasTime {
		if r.At < w.since || r.At >= w.until {
			t.otherTimeLines++
			return false
		}
		t.first, t.last = min(t.first, r.At), max(t.last, r.At)
	}
	switch {
	case len(r.Host) > 0 && !w.hostCache.countAndMatch(w, r.Host):
		t.otherSiteLines++
	case len(r.Host) == 0 && w.byHost != nil:
		t.otherSiteLines++
		t.noHost++
	case len(r.Target) == 0:
		t.otherLines++
	default:
		return true
	}
	return false
}

// countDisallowed counts a request that the current version disallows. The request is stale if the
// crawler may still obey an earlier version that allows the URL.
func (w *worker) countDisallowed(k *chunk, current *datedVersion, who *cachedIdentity, c *crawlerCount) {
	r := &w.record
	a, passes := w.findLimits(k, current, who), w.isPassed()
	v, spared := w.result.RobotsVerdict, w.result.LogOnly || !current.settings.EnforceIncludes(who.client)
	path := rawPath(r.Target)
	if strings.Contains(v.Rule.Path, "?") { // The rule depends on the query.
		path = appendQuery(path, r.Target)
	}
	stale := w.mayObeyEarlier(current, who)
	if w.collectPaths {
		w.countForChallenge(who, !stale && !spared)
	}
	if stale || passes {
		w.queueRateEvent(k, who, a)
	}
	if stale {
		c.stale++
		return
	}
	switch {
	case spared:
		c.notEnforced++
	case w.collectSources:
		w.tally.sources.add(w, who, v)
	}
	w.tally.addViolation(who.crawlerNumber, int32(w.version), v.Rule, v.Group.Name, path)
}

// selectVersion sets w.version to the version that the host served at the time of w.record.
func (w *worker) selectVersion() {
	if w.byHost != nil {
		w.versionRange = w.hostCache.versionRange
	}
	from, to := w.versionRange.from, w.versionRange.to
	if to-from == 1 {
		w.version = from
		return
	}
	if !w.record.HasTime {
		w.version = to - 1
		return
	}
	if v := &w.versions[w.version]; w.version < from || w.version >= to || w.record.At < v.from && !v.isFirst || w.record.At >= v.until {
		w.version = from + findVersion(w.versions[from:to], w.record.At)
	}
}

// graceFor returns the time for which a client may obey the previous version after a change.
func (v *datedVersion) graceFor(who *cachedIdentity) time.Duration {
	return judge.GracePeriod(who.client, v.grace)
}

// mayObeyEarlier reports whether the crawler may still obey an earlier version that allows the
// target.
func (w *worker) mayObeyEarlier(current *datedVersion, who *cachedIdentity) bool {
	if len(current.state.Previous) == 0 || !w.record.HasTime {
		return false
	}
	q := w.newJudgeRequest(who)
	q.GroupCache = nil // The bound rules belong to the current version.
	for _, v := range current.state.VersionsInGrace(fromUnixNano(w.record.At), current.graceFor(who)) {
		current.settings.Judge(&q, judge.Rules{Robots: v.Robots}, &w.scratch, &w.result)
		if w.result.Verdict != judge.Disallowed {
			return true
		}
	}
	return false
}
