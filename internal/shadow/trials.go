package shadow

import (
	"context"
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// maxTrials bounds the sites at which a text is tried at the same time.
const maxTrials = 500

// underWay is how long after a text has changed a request may come that was judged by the
// one before. Later it is that one again: another instance may know it for longer than the
// one that it has replaced here. Where a site stands for several hosts, whose texts may
// differ, it is another host at any time.
const underWay = 10 * time.Second

// Request is a request that was judged by both texts. Nothing that it refers to is
// kept.
type Request struct {
	Site   policy.Key // whose robots.txt it is about
	Label  string     // the site as the configuration names it
	Source string     // where the text that is tried comes from
	Host   string     // that was asked, where the site stands for several; else ""

	InForce, Tried *policy.Version

	Token    string // a name that the registry or one of the texts spells, or judge.OtherName
	Named    bool   // one of the texts names it
	Class    uaident.Class
	Identity verify.State
	Target   string

	Difference Difference
	Was, Would policy.Verdict // by the text in force, and by the one that is tried
}

// Trials remember what texts that are tried would change. They may be used by
// several goroutines at once.
type Trials struct {
	now func() time.Time
	all cowmap.Map[trialKey, *trial]

	others, engines atomic.Int32 // rows of all trials, see [trial.room]

	mu    sync.Mutex     // guards what follows, and is held while a trial begins or ends
	users map[string]int // configurations with a text that is tried, by its source
}

// trialKey tells trials apart.
type trialKey struct {
	site   policy.Key
	source string
}

// trial is what is remembered at one site, as long as neither text changes.
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

// version tells texts apart.
type version struct {
	hash [sha256.Size]byte
	read time.Time // first
}

// New returns trials in which nothing was tried yet. now is the clock.
func New(now func() time.Time) *Trials { return &Trials{now: now, users: make(map[string]int)} }

// Use says that a configuration tries a text until ctx ends. What is known of a text
// that no configuration tries any more is forgotten.
func (t *Trials) Use(ctx context.Context, source string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users[source]++
	context.AfterFunc(ctx, func() {
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
	})
}

// Note counts a request. It takes no lock that requests of several crawlers share,
// and none at all where both texts say the same.
func (t *Trials) Note(q *Request) {
	key := trialKey{q.Site, q.Source}
	shared := q.Site.Segment() == policy.Invented
	if shared { // each host has a text in force of its own
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

// begin begins a trial of the texts of a request. It returns nil for one that was
// under way while a text has changed, and where there is no room.
func (t *Trials) begin(key trialKey, q *Request, shared bool) *trial {
	t.mu.Lock()
	defer t.mu.Unlock()
	made := &trial{of: t, label: q.Label, tried: version{q.Tried.Hash, q.Tried.FirstRead}, since: t.now()}
	if !shared {
		made.inForce = version{q.InForce.Hash, q.InForce.FirstRead}
	}
	known, ok := t.all.Load(key)
	switch {
	case !ok && (t.all.Len() >= maxTrials || t.users[q.Source] == 0):
		return nil
	case ok && known.tried.hash == made.tried.hash && known.inForce.hash == made.inForce.hash:
		return known // others were faster
	case ok && (shared || made.since.Sub(known.since) < underWay) && (made.tried.read.Before(known.tried.read) || made.inForce.read.Before(known.inForce.read)):
		return nil
	case ok:
		t.end(known)
	}
	t.all.Store(key, made)
	return made
}

// end takes back the room of a trial. t.mu must be held.
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
