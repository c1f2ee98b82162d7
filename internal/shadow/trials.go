// Package shadow records what a robots.txt on trial would change if it were in force: for which
// crawlers, on which pages and by which lines.
//
// Its memory is bounded, because clients cannot invent sites or crawlers: sites come from the
// configuration, and crawlers from the registry or from either file. Search engines have reserved
// rows, so other crawlers cannot use up all rows.
package shadow

import (
	"crypto/sha256"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// maxTrials is the maximum number of trials.
const maxTrials = 500

// lateRequestWindow is the time after a change of a file in which some requests may still be judged
// by the previous file. After this time, a request judged by an older file means that the file has
// changed back: for example, another instance fetched the older file first.
const lateRequestWindow = 10 * time.Second

// Request is a request with the verdicts of the file in force and the file on trial. Trials do not
// retain a Request.
type Request struct {
	Site   policy.Key // Site is the site of the robots.txt.
	Label  string     // Label is the name of the site in the configuration.
	Source string     // Source is the source of the file on trial.
	Host   string     // Host is "" if the site has one host.

	InForce, OnTrial *policy.Version

	Token         string // Token is a product token in the registry or a file, or judge.OtherName.
	IsNamedInFile bool   // IsNamedInFile is true if the file in force or the file on trial names the crawler.
	Class         uaident.Class
	Identity      verify.State
	Target        string

	Difference Difference
	// These are the verdicts by the file in force and by the file on trial.
	VerdictInForce, VerdictOnTrial policy.Verdict
}

// Trials records what files on trial would change. It is safe for concurrent use.
type Trials struct {
	now         func() time.Time
	trialsByKey cowmap.Map[trialKey, *trial]

	numRows, numSearchEngineRows atomic.Int32 // These count the rows of all trials, for maxRows and maxSearchEngineRows.

	mu sync.Mutex // This mutex guards the fields below. It is locked while a trial begins or ends.
	// The value is the number of calls of KeepResults that were not released. The key is the source.
	usersBySource map[string]int
}

// trialKey identifies a trial by the site and the source of the file on trial.
type trialKey struct {
	site   policy.Key
	source string
}

// trial has the results of a file on trial at a site since the last change of this file or of the
// file in force.
type trial struct {
	trials           *Trials // trials contains this trial.
	label            string
	inForce, onTrial fileVersion
	since            time.Time
	rows             cowmap.Map[rowKey, *row]

	mu                         sync.Mutex // This mutex guards the fields below. It is locked while a row is created.
	numUnreservedRows, numRows int        // numRows counts the rows for maxRowsPerSite, and numUnreservedRows those that use no reserved row.
	ended                      bool       // ended is true if results are no longer recorded.
}

// fileVersion identifies a version of a file on trial or in force.
type fileVersion struct {
	hash         [sha256.Size]byte
	firstFetched time.Time
}

// New returns Trials without results. now is the clock.
func New(now func() time.Time) *Trials { return &Trials{now: now, usersBySource: make(map[string]int)} }

// KeepResults starts to record results for the file on trial with a source. release deletes the
// results, unless another caller of KeepResults has not released the source yet.
func (t *Trials) KeepResults(source string) (release func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.usersBySource[source]++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.usersBySource[source]--; t.usersBySource[source] > 0 {
			return
		}
		delete(t.usersBySource, source)
		for key, existing := range t.trialsByKey.All() {
			if key.source == source {
				t.endTrial(existing)
				t.trialsByKey.Delete(key)
			}
		}
	}
}

// RecordRequest records a judged request. It locks a mutex of all crawlers only when a trial or a
// row begins, and no mutex at all for other requests to which both files give the same verdict.
func (t *Trials) RecordRequest(q *Request) {
	key := trialKey{q.Site, q.Source}
	shared := q.Site.Segment() == policy.UnknownHosts
	if shared { // All hosts of the site share a trial, although each host has its own file in force.
		key.site = policy.Key{Server: q.Site.Server, Site: q.Site.Site, IsHTTPS: q.Site.IsHTTPS}
	}
	existing, _ := t.trialsByKey.Load(key)
	if existing == nil || existing.onTrial.hash != q.OnTrial.Hash || !shared && existing.inForce.hash != q.InForce.Hash {
		if existing = t.beginTrial(key, q, shared); existing == nil {
			return
		}
	}
	existing.getOrAddRow(q).recordRequest(q, t.now)
}

// beginTrial begins a trial of the files of a request, because the files have changed or have no
// trial yet. shared is true if all hosts of a site share the trial. The result is nil if maxTrials
// is reached, if the results of the source are no longer kept, or if the request was judged by an
// older file than the existing trial has.
func (t *Trials) beginTrial(key trialKey, q *Request, shared bool) *trial {
	t.mu.Lock()
	defer t.mu.Unlock()
	newTrial := &trial{trials: t, label: q.Label, onTrial: fileVersion{q.OnTrial.Hash, q.OnTrial.FirstFetched}, since: t.now()}
	if !shared {
		newTrial.inForce = fileVersion{q.InForce.Hash, q.InForce.FirstFetched}
	}
	existing, ok := t.trialsByKey.Load(key)
	switch {
	case !ok && (t.trialsByKey.Len() >= maxTrials || t.usersBySource[q.Source] == 0):
		return nil
	case ok && existing.onTrial.hash == newTrial.onTrial.hash && existing.inForce.hash == newTrial.inForce.hash:
		return existing // Another goroutine has begun the trial.
	case ok && (shared || newTrial.since.Sub(existing.since) < lateRequestWindow) && (newTrial.onTrial.firstFetched.Before(existing.onTrial.firstFetched) || newTrial.inForce.firstFetched.Before(existing.inForce.firstFetched)):
		return nil
	case ok:
		t.endTrial(existing)
	}
	t.trialsByKey.Store(key, newTrial)
	return newTrial
}

// endTrial stops recording results of a trial, and subtracts its rows from the row counts. The
// caller must have locked t.mu.
func (t *Trials) endTrial(existing *trial) {
	existing.mu.Lock()
	defer existing.mu.Unlock()
	existing.ended = true
	for key := range existing.rows.All() {
		switch key.rowLimit() {
		case ordinaryRowLimit:
			t.numRows.Add(-1)
		case searchEngineRowLimit:
			t.numSearchEngineRows.Add(-1)
		}
	}
}

// File is a robots.txt on trial: a configured file or URL, or the files of a change of a managed
// robots.txt. Its functions may be called concurrently.
type File struct {
	// Source is the unique name of the file: its path or URL, or the ID of the change.
	Source string
	// Has reports whether a change of a managed robots.txt applies to a host. Nil means a configured
	// file, which applies to all requests of its guard.
	Has func(host string) bool
	// IsPublished reports whether a host already serves the change. Nil means no host.
	IsPublished func(host string) bool
	// Fetch returns the file for a host, or the previous file if the host already serves the change.
	// Fetch may be slow.
	Fetch     func(host string) policy.FetchResult
	Freshness policy.FreshnessPolicy
	OnFetched func(before, after policy.State) // OnFetched may be nil.
}

// ReadableVersion returns the version of a file on trial, or nil if the file is missing or is a web
// page. Such a file would allow everything if it were in force, but a trial ignores it.
func ReadableVersion(s *policy.State) *policy.Version {
	if s == nil || s.Current == nil || (policy.FetchResult{Status: s.Current.Status}).AccessResult() != policy.Successful || IsWebPage(s.Current) {
		return nil
	}
	return s.Current
}

// IsWebPage reports whether a version is a web page, without a robots.txt rule.
func IsWebPage(v *policy.Version) bool {
	if v.Robots.RuleCount() > 0 {
		return false
	}
	findings, _ := v.Robots.Findings()
	return slices.ContainsFunc(findings, func(f policy.Finding) bool { return f.Code == policy.HTML })
}

// Difference says how the verdict of the file on trial differs from the verdict of the file in
// force.
type Difference uint8

// The differences between the two verdicts on a request.
const (
	Same Difference = iota // Same means that both files allow the request, or that both disallow it.
	// NewlyForbidden means that the file in force allows the request and the file on trial does not.
	NewlyForbidden
	// NewlyAllowed means that the file in force disallows the request and the file on trial does not.
	NewlyAllowed

	// NumDifferences is the number of values of Difference.
	NumDifferences = 3
)

// String returns the word for d in labels, logs and JSON.
func (d Difference) String() string {
	return [NumDifferences]string{"same", "newly_forbidden", "newly_allowed"}[d]
}

// DifferenceOf compares the verdict of the file in force with the verdict of the file on trial.
func DifferenceOf(allowedInForce, allowedOnTrial bool) Difference {
	switch {
	case allowedInForce && !allowedOnTrial:
		return NewlyForbidden
	case allowedOnTrial && !allowedInForce:
		return NewlyAllowed
	}
	return Same
}
