package shadow

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// maxTrials bounds the sites with a trial.
const maxTrials = 500

// underWay is the time after a change of a file during which a request may have been judged by the file
// before. Later, an older file is in force again: another instance may have fetched it earlier. At a site
// with several hosts, an older file is always a late request or another host.
const underWay = 10 * time.Second

// Request is a request that was judged by both files. Trials keep no reference to it.
type Request struct {
	Site   policy.Key // whose robots.txt it is about
	Label  string     // the site as the configuration names it
	Source string     // source of the file on trial
	Host   string     // if the site has several hosts, else ""

	InForce, Tried *policy.Version

	Token    string // as in the registry or one of the files, or judge.OtherName
	Named    bool   // one of the files names the crawler
	Class    uaident.Class
	Identity verify.State
	Target   string

	Difference Difference
	Was, Would policy.Verdict // by the file in force, and by the file on trial
}

// Trials record what files on trial would change. They are safe for concurrent use.
type Trials struct {
	now func() time.Time
	all cowmap.Map[trialKey, *trial]

	others, engines atomic.Int32 // rows of all trials, see trial.room

	mu    sync.Mutex     // guards what follows, and is held while a trial begins or ends
	users map[string]int // configurations by the source of the file on trial
}

// trialKey identifies a trial.
type trialKey struct {
	site   policy.Key
	source string
}

// trial has the results of one site, until one of the files changes.
type trial struct {
	of             *Trials
	label          string
	inForce, tried version
	since          time.Time
	rows           cowmap.Map[rowKey, *row]

	mu              sync.Mutex // guards what follows, and is held while a row is made
	unnamed, others int        // rows, see [trial.room]
	ended           bool       // so that nothing is counted any more
}

// version identifies a file.
type version struct {
	hash [sha256.Size]byte
	read time.Time // first
}

// New returns empty trials. now is the clock.
func New(now func() time.Time) *Trials { return &Trials{now: now, users: make(map[string]int)} }

// Use registers a user of a file on trial until release is called. Results are dropped once a file has
// no user.
func (t *Trials) Use(source string) (release func()) {
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
		for key, known := range t.all.All() {
			if key.source == source {
				t.end(known)
				t.all.Delete(key)
			}
		}
	}
}

// Note records a request. It takes no lock that different crawlers share, and none if the verdicts are the
// same.
func (t *Trials) Note(q *Request) {
	key := trialKey{q.Site, q.Source}
	shared := q.Site.Segment() == policy.UnknownHosts
	if shared { // each host has its own file in force
		key.site = policy.Key{Server: q.Site.Server, Site: q.Site.Site, Secure: q.Site.Secure}
	}
	known, _ := t.all.Load(key)
	if known == nil || known.tried.hash != q.Tried.Hash || !shared && known.inForce.hash != q.InForce.Hash {
		if known = t.begin(key, q, shared); known == nil {
			return
		}
	}
	known.row(q).note(q, t.now)
}

// begin begins a trial of the files of a request. It returns nil if the request was judged by an older
// file, or if there is no room.
func (t *Trials) begin(key trialKey, q *Request, shared bool) *trial {
	t.mu.Lock()
	defer t.mu.Unlock()
	made := &trial{of: t, label: q.Label, tried: version{q.Tried.Hash, q.Tried.FirstFetched}, since: t.now()}
	if !shared {
		made.inForce = version{q.InForce.Hash, q.InForce.FirstFetched}
	}
	known, ok := t.all.Load(key)
	switch {
	case !ok && (t.all.Len() >= maxTrials || t.users[q.Source] == 0):
		return nil
	case ok && known.tried.hash == made.tried.hash && known.inForce.hash == made.inForce.hash:
		return known // another goroutine was faster
	case ok && (shared || made.since.Sub(known.since) < underWay) && (made.tried.read.Before(known.tried.read) || made.inForce.read.Before(known.inForce.read)):
		return nil
	case ok:
		t.end(known)
	}
	t.all.Store(key, made)
	return made
}

// end frees the room of a trial. The caller holds t.mu.
func (t *Trials) end(known *trial) {
	known.mu.Lock()
	defer known.mu.Unlock()
	known.ended = true
	for key := range known.rows.All() {
		switch key.kind() {
		case ofOthers:
			t.others.Add(-1)
		case ofEngines:
			t.engines.Add(-1)
		}
	}
}
