package replay

import (
	"context"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Compare replays logs by two texts of a robots.txt, the one before an edit and
// that of o.Versions, of which there has to be one only, and reports the requests
// whose verdict the edit changes. It ends early as [Run] does.
func Compare(ctx context.Context, before Version, o Options) (*EditReport, error) {
	o.before = &before
	report, err := Run(ctx, o)
	if report == nil {
		return nil, err
	}
	return report.edit, err
}

// changeKey is a change for a crawler: which line decides now, which did before,
// 0 for no rule.
type changeKey struct {
	crawler, was, is int32
	blocked          bool
}

type changeCount struct {
	count   uint64
	was, is policy.Rule
}

// changeTally counts the requests whose verdict changes, nil if no edit is
// looked at.
type changeTally struct {
	crawlers []changedRequests // by number
	rules    map[changeKey]*changeCount
	dropped  uint64 // requests that found no place in rules
	paths    spacesaving.Sketch[changedPathKey]
}

// changedPathKey is a path whose verdict changes for a crawler.
type changedPathKey struct {
	pathKey
	blocked bool
}

type changedRequests struct{ blocked, opened uint64 }

func newChangeTally() *changeTally {
	return &changeTally{rules: make(map[changeKey]*changeCount)}
}

// crawler returns the counts of a crawler.
func (t *changeTally) crawler(id int32) *changedRequests {
	for int(id) >= len(t.crawlers) {
		t.crawlers = append(t.crawlers, changedRequests{})
	}
	return &t.crawlers[id]
}

// add counts a request whose verdict changes.
func (t *changeTally) add(id int32, was, is policy.Verdict, path []byte) {
	if c := t.crawler(id); is.Allowed {
		c.opened++
	} else {
		c.blocked++
	}
	key := changeKey{id, int32(was.Rule.Line), int32(is.Rule.Line), !is.Allowed}
	switch c := t.rules[key]; {
	case c != nil:
		c.count++
	case len(t.rules) == maxRules:
		t.dropped++
	default:
		t.rules[key] = &changeCount{1, was.Rule, is.Rule}
	}
	t.paths.Add(changedPathKey{pathKeyOf(id, path), !is.Allowed}, 1, 0, maxPaths, func(k changedPathKey) changedPathKey {
		k.path = strings.Clone(k.path)
		return k
	})
}

// merge takes in the counts of another tally.
func (t *changeTally) merge(o *changeTally) {
	for id, c := range o.crawlers {
		sum := t.crawler(int32(id))
		sum.blocked += c.blocked
		sum.opened += c.opened
	}
	t.dropped += o.dropped
	for key, c := range o.rules {
		switch have := t.rules[key]; {
		case have != nil:
			have.count += c.count
		case len(t.rules) == maxRules:
			t.dropped += c.count
		default:
			t.rules[key] = c
		}
	}
	t.paths.Merge(o.paths, maxPaths)
}

// compare judges the request of the record by the texts before and after the
// edit, each as if it were the only one: the names in it help to tell who the
// client is.
func (w *worker) compare() {
	r, t := &w.record, w.tally
	who := w.identify(r.UserAgent)
	was := who.before
	if who.browser && was.browser {
		t.browser(r)
		return
	}
	w.ask(who, w.versions[w.version].robots)
	is := w.result
	if is.Reason == judge.Challenge {
		t.other++
		return
	}
	t.requests++
	t.crawler(who.crawler).requests++
	w.ask(was, w.before.robots)
	if before, after := w.result.Verdict != judge.Disallowed, is.Verdict != judge.Disallowed; before != after {
		t.changes.add(who.crawler, w.result.Evidence, is.Evidence, rawPath(r.Target))
	}
}

// meetTwice identifies a User-Agent by the texts before and after the edit. The
// crawler is named by the one that knows it, by the later if both do.
func (w *worker) meetTwice(who *identity, userAgent string) {
	w.meetBy(who, userAgent, &w.versions[w.version])
	if who.before == nil {
		who.before = new(identity)
	}
	was := who.before
	w.meetBy(was, userAgent, w.before)
	if !was.browser && (who.browser || w.crawlers.key(who.crawler).name == otherName) {
		who.crawler = was.crawler
	}
}
