// Package shadow records what a robots.txt on trial would change if it were in force: for which
// crawlers, on which pages and by which lines.
//
// Its memory is bounded, and no key can be invented by a client. Sites are sites of the
// configuration, and crawlers are named by the registry or by either file. Rows are reserved
// for search engines, so no other crawler displaces them.
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

// maxTrials is the maximum number of sites with a trial.
const maxTrials = 500

// underWay is the time after a change of a file during which the previous file may have decided
// a request. Later, an older file is in force again: another instance may have fetched it
// earlier. At a site with several hosts, an older file is always a late request or another
// host.
const underWay = 10 * time.Second

// Request is a request with the verdicts of the file in force and the file on trial. Trials do not
// retain a Request.
type Request struct {
	Site   policy.Key // the site of the robots.txt
	Label  string     // the site as the configuration names it
	Source string     // source of the file on trial
	Host   string     // if the site has several hosts, else ""

	InForce, OnTrial *policy.Version

	Token         string // as in the registry or one of the files, or judge.OtherName
	IsNamedInFile bool   // one of the files names the crawler
	Class         uaident.Class
	Identity      verify.State
	Target        string

	Difference                     Difference
	VerdictInForce, VerdictOnTrial policy.Verdict // by the file in force, and by the file on trial
}

// Trials records what files on trial would change. It is safe for concurrent use.
type Trials struct {
	now         func() time.Time
	trialsByKey cowmap.Map[trialKey, *trial]

	otherRows, engineRows atomic.Int32 // rows of all trials, see trial.reserveRow

	mu    sync.Mutex     // guards the fields below; locked while a trial begins or ends
	users map[string]int // configurations by the source of the file on trial
}

// trialKey identifies a trial by the site and the source of the file on trial.
type trialKey struct {
	site   policy.Key
	source string
}

// trial has the results of a file on trial at a site since the last change of this file or of the
// file in force.
type trial struct {
	trials           *Trials
	label            string
	inForce, onTrial fileVersion
	since            time.Time
	rows             cowmap.Map[rowKey, *row]

	mu                     sync.Mutex // guards the fields below; locked while a row is created
	unnamedRows, otherRows int        // rows, see [trial.reserveRow]
	ended                  bool       // nothing is recorded any more
}

// fileVersion identifies a version of a file on trial or in force.
type fileVersion struct {
	hash         [sha256.Size]byte
	firstFetched time.Time // first
}

// New returns Trials without results. now is the clock.
func New(now func() time.Time) *Trials { return &Trials{now: now, users: make(map[string]int)} }

// KeepResults keeps the results of the file on trial with a source until release is called. Without
// such a call, a file has no results.
func (t *Trials) KeepResults(source string) (release func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users[source]++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.users[source]--; t.users[source] > 0 {
			return
		}
		delete(t.users, source)
		for key, known := range t.trialsByKey.All() {
			if key.source == source {
				t.endTrial(known)
				t.trialsByKey.Delete(key)
			}
		}
	}
}

// RecordRequest records a judged request. It takes no lock that different crawlers share, and no
// lock at all if both files give the same verdict.
func (t *Trials) RecordRequest(q *Request) {
	key := trialKey{q.Site, q.Source}
	shared := q.Site.Segment() == policy.UnknownHosts
	if shared { // each host has its own file in force
		key.site = policy.Key{Server: q.Site.Server, Site: q.Site.Site, IsHTTPS: q.Site.IsHTTPS}
	}
	known, _ := t.trialsByKey.Load(key)
	if known == nil || known.onTrial.hash != q.OnTrial.Hash || !shared && known.inForce.hash != q.InForce.Hash {
		if known = t.beginTrial(key, q, shared); known == nil {
			return
		}
	}
	known.getOrAddRow(q).recordRequest(q, t.now)
}

// beginTrial begins a new trial, because a file of the request has changed or has no trial yet.
// beginTrial returns nil if an older file than the known one decided the request, or if there is no
// room.
func (t *Trials) beginTrial(key trialKey, q *Request, shared bool) *trial {
	t.mu.Lock()
	defer t.mu.Unlock()
	made := &trial{trials: t, label: q.Label, onTrial: fileVersion{q.OnTrial.Hash, q.OnTrial.FirstFetched}, since: t.now()}
	if !shared {
		made.inForce = fileVersion{q.InForce.Hash, q.InForce.FirstFetched}
	}
	known, ok := t.trialsByKey.Load(key)
	switch {
	case !ok && (t.trialsByKey.Len() >= maxTrials || t.users[q.Source] == 0):
		return nil
	case ok && known.onTrial.hash == made.onTrial.hash && known.inForce.hash == made.inForce.hash:
		return known // another goroutine was faster
	case ok && (shared || made.since.Sub(known.since) < underWay) && (made.onTrial.firstFetched.Before(known.onTrial.firstFetched) || made.inForce.firstFetched.Before(known.inForce.firstFetched)):
		return nil
	case ok:
		t.endTrial(known)
	}
	t.trialsByKey.Store(key, made)
	return made
}

// endTrial ends a trial: nothing is recorded in it any more, and its rows no longer count. The
// caller must have locked t.mu.
func (t *Trials) endTrial(known *trial) {
	known.mu.Lock()
	defer known.mu.Unlock()
	known.ended = true
	for key := range known.rows.All() {
		switch key.limitKind() {
		case limitedRows:
			t.otherRows.Add(-1)
		case searchEngineRows:
			t.engineRows.Add(-1)
		}
	}
}

// File is a robots.txt on trial: a configured file or URL, or the files of a change of a managed
// robots.txt. Its functions may be called concurrently.
type File struct {
	// Source identifies the file.
	Source string
	// Has reports whether the managed change is for a host. Each host then has its own file. A nil
	// Has means one configured file, for the requests of the guard with this configuration.
	Has func(host string) bool
	// IsPublished reports whether a host already serves the change. Nil means no host.
	IsPublished func(host string) bool
	// Fetch returns the file for a host. If the host already serves the change, Fetch returns the
	// previous file. Fetch may be slow.
	Fetch     func(host string) policy.FetchResult
	Freshness policy.FreshnessPolicy
	OnFetched func(before, after policy.State) // may be nil
}

// ReadableVersion returns the version of a file on trial, or nil if the file is missing or a web
// page. Unlike in force, such a file does not allow everything.
func ReadableVersion(s *policy.State) *policy.Version {
	if s == nil || s.Current == nil || (policy.FetchResult{Status: s.Current.Status}).AccessResult() != policy.Successful || IsWebPage(s.Current) {
		return nil
	}
	return s.Current
}

// IsWebPage reports whether a version is a web page without a rule.
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

// The differences.
const (
	Same           Difference = iota
	NewlyForbidden            // allowed in force, disallowed on trial
	NewlyAllowed              // disallowed in force, allowed on trial

	// NumDifferences is the number of differences.
	NumDifferences = 3
)

// String returns the word for d in labels, logs and JSON.
func (d Difference) String() string {
	return [NumDifferences]string{"same", "newly_forbidden", "newly_allowed"}[d]
}

// DifferenceOf compares the verdicts about a request: allowed is true if the file in force allows
// it, and wouldAllow if the file on trial does.
func DifferenceOf(allowed, wouldAllow bool) Difference {
	switch {
	case allowed && !wouldAllow:
		return NewlyForbidden
	case wouldAllow && !allowed:
		return NewlyAllowed
	}
	return Same
}
