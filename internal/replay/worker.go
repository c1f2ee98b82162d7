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

// plan has the settings of all workers, and is immutable.
type plan struct {
	registry     *uaident.Registry
	versions     []version
	byHost       map[string]versionRange // the versions of each host; nil if all hosts share the versions
	hosts        hostList
	since, until int64
	crawlers     *crawlers
	sources      bool           // whether to collect sources of violations
	rate         *rate.Settings // nil without a report of rates
	paths        bool           // whether to make a [ChallengeReport]
}

// worker processes lines of a log. A line causes no allocation, except for a new disallowed path.
// Clients cannot invent keys of the maps, so the memory is bounded.
type worker struct {
	*plan
	tally      *tally
	parsers    map[*logformat.Format]logformat.Parser
	identities []identity // cache of identities by the hash of the User-Agent
	seed       maphash.Seed
	record     logformat.Record
	scratch    judge.Scratch
	result     judge.Result
	version    int // the version of the last line
	span       versionRange
	path       []byte
	hostCache  hostCache
}

func newWorker(p *plan) *worker {
	return &worker{
		plan: p, tally: newTally(), span: versionRange{0, len(p.versions)}, parsers: make(map[*logformat.Format]logformat.Parser),
		identities: make([]identity, maxIdentities+1), seed: maphash.MakeSeed(),
	}
}

// work processes the lines of a chunk.
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
	p := w.parsers[k.input.format]
	if p == nil {
		p = k.input.format.Parser()
		w.parsers[k.input.format] = p
	}
	for line := range bytes.Lines(k.data) {
		line = logformat.TrimEnd(line)
		k.lines++
		switch what, why := p.Parse(line, &w.record); what {
		case logformat.Malformed:
			w.malformed(k, why, line)
		case logformat.Other:
			w.tally.other++
		default:
			w.judge(k)
		}
	}
	w.tally.lines += uint64(k.lines)
}

// malformed counts a malformed line.
func (w *worker) malformed(k *chunk, why string, line []byte) {
	w.tally.malformed++
	k.malformed++
	if len(k.examples) < maxExamples {
		k.examples = append(k.examples, example{line: k.lines, reason: why, text: string(line[:min(len(line), 200)])})
	}
}

// judge finds the verdict about the request of the record and updates the tally.
func (w *worker) judge(k *chunk) {
	r, t := &w.record, w.tally
	if !w.isSelected() {
		return
	}
	w.selectVersion()
	who := w.identify(r.UserAgent)
	if who.browser {
		t.addBrowser(r)
		if w.paths {
			w.countPath(who, false)
		}
		return
	}
	current := &w.versions[w.version]
	w.judgeRequest(who, current)
	if w.result.Reason == judge.ReasonACMEChallenge {
		t.other++
		return
	}
	t.requests++
	c := t.crawler(who.crawler)
	c.requests++
	w.countResponse(c)
	if r.HasTime {
		c.last = max(c.last, r.At)
	}
	if current.first && !current.isOnly() && r.HasTime && r.At < current.from {
		t.beforeFirst++
	}
	if w.paths && w.result.Verdict != judge.Disallowed {
		w.countPath(who, false)
	}
	switch {
	case w.result.Reason == judge.ReasonRobotsTxt:
		c.robotsRequests++
		if judge.IsRobotsFetch(methodOf(r.Method), r.Status) {
			c.addFetch(r.At, r.Status)
		}
	case w.result.Verdict == judge.Disallowed:
		w.disallowed(k, current, who, c)
	default:
		if w.result.Verdict == judge.Exempt {
			c.exempt++
		}
		w.queueRate(k, who, w.limitsFor(k, current, who))
	}
}

// isSelected reports whether the options select the time and the site of the record. It counts
// records that are not selected.
func (w *worker) isSelected() bool {
	r, t := &w.record, w.tally
	if r.HasTime {
		if r.At < w.since || r.At >= w.until {
			t.otherTime++
			return false
		}
		t.first, t.last = min(t.first, r.At), max(t.last, r.At)
	}
	switch {
	case len(r.Host) > 0 && !w.hostCache.matches(w, r.Host):
		t.otherSite++
	case len(r.Host) == 0 && w.byHost != nil:
		t.otherSite++
		t.noHost++
	case len(r.Target) == 0:
		t.other++
	default:
		return true
	}
	return false
}

// disallowed counts a request disallowed by the current version. The request is stale if the
// crawler may follow an earlier version that allows the URL.
func (w *worker) disallowed(k *chunk, current *version, who *identity, c *crawlerCount) {
	r := &w.record
	a, passes := w.limitsFor(k, current, who), w.isPassed()
	v, spared := w.result.RobotsVerdict, w.result.LogOnly || !current.settings.EnforceIncludes(who.client)
	path := rawPath(r.Target)
	if strings.Contains(v.Rule.Path, "?") { // the rule depends on the query
		path = withQuery(path, r.Target)
	}
	stale := w.mayFollowEarlier(current, who)
	if w.paths {
		w.countPath(who, !stale && !spared)
	}
	if stale || passes {
		w.queueRate(k, who, a)
	}
	if stale {
		c.stale++
		return
	}
	switch {
	case spared:
		c.notEnforced++
	case w.sources:
		w.tally.sources.add(w, who, v)
	}
	w.tally.addViolation(who.crawler, int32(w.version), v.Rule, v.Group.Name, path)
}

// selectVersion sets w.version to the current version at the time of the record.
func (w *worker) selectVersion() {
	if w.byHost != nil {
		w.span = w.hostCache.span
	}
	from, to := w.span.from, w.span.to
	if to-from == 1 {
		w.version = from
		return
	}
	if !w.record.HasTime {
		w.version = to - 1
		return
	}
	if v := &w.versions[w.version]; w.version < from || w.version >= to || w.record.At < v.from && !v.first || w.record.At >= v.until {
		w.version = from + versionAt(w.versions[from:to], w.record.At)
	}
}

// graceFor returns how long a client may follow the previous version.
func (v *version) graceFor(who *identity) time.Duration {
	return judge.GracePeriod(who.client, v.grace)
}

// mayFollowEarlier reports whether an earlier version allows the target and the crawler may still
// follow that version.
func (w *worker) mayFollowEarlier(current *version, who *identity) bool {
	if len(current.state.Previous) == 0 || !w.record.HasTime {
		return false
	}
	q := w.requestOf(who)
	q.GroupCache = nil // Bound belongs to the current version
	for _, v := range current.state.VersionsInGrace(fromUnixNano(w.record.At), current.graceFor(who)) {
		current.settings.Judge(&q, judge.Rules{Robots: v.Robots}, &w.scratch, &w.result)
		if w.result.Verdict != judge.Disallowed {
			return true
		}
	}
	return false
}
