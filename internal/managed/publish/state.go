package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// Bounds of what is kept of a site.
const (
	// mostChanges is how many changes are kept that are over.
	mostChanges = 500
	// keptFor is how long they are kept.
	keptFor = 365 * 24 * time.Hour
	// MostLines is how many findings, differences or reasons of a change are kept.
	MostLines = 20
	// MostText is how many bytes such a line, a name or a why may have.
	MostText = 500

	mostInstances = 256
	instanceLife  = 31 * 24 * time.Hour
	instanceRenew = 7 * 24 * time.Hour
)

// Empty is the spec of a site without any rule: its own robots.txt stands alone.
var Empty = []byte("{}")

// IDOf returns the ID of a spec: the first 16 hexadecimal digits of its SHA-256.
func IDOf(spec []byte) string {
	sum := sha256.Sum256(spec)
	return hex.EncodeToString(sum[:8])
}

// Origin is where a change comes from.
type Origin string

// The origins.
const (
	FromConfiguration Origin = "configuration"
	FromRules         Origin = "rules"    // a list of rules was read again
	FromRollback      Origin = "rollback" // somebody wants an earlier change again
)

// Stage is how far a candidate is.
type Stage string

// The stages. The zero Stage in a [Rollout] publishes for all at once.
const (
	Confirmation Stage = "confirmation" // a person has to confirm it
	Shadow       Stage = "shadow"       // it is judged beside what is published
	Hosts        Stage = "hosts"        // some hosts have it
)

// End is why a change is over.
type End string

// The ends.
const (
	Superseded End = "superseded"  // another was published
	RolledBack End = "rolled_back" // somebody took it back
	Withdrawn  End = "withdrawn"   // another took its place before it was published
	Stopped    End = "stopped"     // a trial found what speaks against it, or somebody gave it up
)

// ByTrial is who has ended a trial that nobody but what it found has ended.
const ByTrial = "trial"

// By is who did something, and why.
type By struct {
	Who    string    `json:"who"`
	Why    string    `json:"why,omitempty"`
	Ticket string    `json:"ticket,omitempty"`
	At     time.Time `json:"at"`
}

// Rollout is how a change comes to all, once it may.
type Rollout struct {
	Stage   Stage    `json:"stage,omitempty"`
	Seconds int64    `json:"seconds,omitempty"` // how long it is tried; 0 until somebody promotes it
	Hosts   []string `json:"hosts,omitempty"`
}

// Change is one wish of the owner. A spec that is wanted twice makes two changes with
// the same ID.
type Change struct {
	Number int    `json:"number"` // counts the changes of a site
	ID     string `json:"id"`     // of its spec
	Parent string `json:"parent"` // the ID of what was published when it was made
	Origin Origin `json:"origin"`
	Made   By     `json:"made"`
	// Restores is the number of the change that a rollback has published again; 0
	// for none.
	Restores int `json:"restores,omitempty"`
	// Findings are what the gate found and let pass, Difference what it changes, and
	// Reasons why it has to be confirmed. Each has [MostLines] at most.
	Findings   []string `json:"findings,omitempty"`
	Difference []string `json:"difference,omitempty"`
	Reasons    []string `json:"reasons,omitempty"`
	Confirmed  *By      `json:"confirmed,omitempty"`
	Promoted   *By      `json:"promoted,omitempty"` // by hand, before its time was over
	// Found is what was found while it was judged beside what was published, nil if it
	// never was.
	Found *Found `json:"found,omitempty"`
	// ReadBy are the crawlers that have read the robots.txt while it was published, as far
	// as the instance knows that has published the next one.
	ReadBy []string `json:"read_by,omitempty"`
	// Published is zero if it never was for all.
	Published time.Time `json:"published,omitzero"`
	Ended     *By       `json:"ended,omitempty"`
	End       End       `json:"end,omitempty"`
}

// StoppedByTrial reports whether a change was ended by what its own trial has found.
func (c *Change) StoppedByTrial() bool { return c.End == Stopped && c.Ended.Who == ByTrial }

// Found is what came of judging requests by a change beside what was published. Each
// instance counts for itself; it is that of the one which ended the trial.
type Found struct {
	Counts
	Search Counts `json:"search"` // of search engines among them
	// Pages are those about which the two differ, with who asked for them, search
	// engines first: at most [MostLines].
	Pages []string `json:"pages,omitempty"`
}

// Counts are requests by what a change would do about them.
type Counts struct {
	Requests       uint64 `json:"requests"`
	NewlyForbidden uint64 `json:"newly_forbidden"`
	NewlyAllowed   uint64 `json:"newly_allowed"`
}

// Plus adds up.
func (c Counts) Plus(other Counts) Counts {
	return Counts{c.Requests + other.Requests, c.NewlyForbidden + other.NewlyForbidden, c.NewlyAllowed + other.NewlyAllowed}
}

// Candidate is a change that waits for somebody, or is tried.
type Candidate struct {
	Change
	Stage Stage     `json:"stage"`
	Since time.Time `json:"since"` // of the stage
	// Until is when the stage ends by itself, zero if only a person ends it.
	Until   time.Time `json:"until,omitzero"`
	Rollout Rollout   `json:"rollout"`
}

// State is what is known of the changes of a site. The zero State is a site that
// never had any: its own robots.txt stands alone. A State is not modified.
type State struct {
	Published *Change    `json:"published,omitempty"`
	Candidate *Candidate `json:"candidate,omitempty"`
	// History is what is over, the latest first.
	History []Change `json:"history,omitempty"`
	// Changes counts all changes there ever were, Revision all writings.
	Changes  int   `json:"changes"`
	Revision int64 `json:"revision"`
	// Latest is the ID of what was submitted last, by whatever instance, and
	// Submitted what each has submitted last. Who starts with that again submits
	// nothing, so that a rollback holds until the configuration is another one.
	Latest    string               `json:"latest,omitempty"`
	Submitted map[string]Submitted `json:"submitted,omitempty"`
}

// Submitted is what an instance has submitted last.
type Submitted struct {
	ID string    `json:"id"`
	At time.Time `json:"at"` // when it was said, or renewed
}

// PublishedID returns the ID of the spec that is published.
func (s *State) PublishedID() string {
	if s.Published == nil {
		return IDOf(Empty)
	}
	return s.Published.ID
}

// Unseen is an error about a change that waits or is tried and that a state from before has
// not shown, nil if there is none or it has shown none at all: who decides about what was
// shown means no other.
func (s *State) Unseen(shown *State) error {
	seen := shown.open()
	for _, id := range s.open() {
		if len(seen) > 0 && !slices.Contains(seen, id) {
			return fmt.Errorf("%w: %s", ErrOther, id)
		}
	}
	return nil
}

// open returns the IDs of what waits or is tried.
func (s *State) open() (ids []string) {
	if c := s.Candidate; c != nil {
		ids = append(ids, c.ID)
	}
	return ids
}

// Last returns the change of the site's rules that was made last among those that are
// published or over, nil for none.
func (s *State) Last() *Change {
	last := s.Published
	if len(s.History) > 0 && (last == nil || s.History[0].Number > last.Number) {
		last = &s.History[0]
	}
	return last
}

// IsNews reports whether a submission is what neither its instance, nor the last of
// all, has submitted before, or wants without a trial what its own trial has ended.
func (s *State) IsNews(in Submission) bool {
	if in.ID == s.Latest {
		last := s.Last()
		return in.Rollout.Stage == "" && s.Candidate == nil && last != nil && last.ID == in.ID && last.StoppedByTrial()
	}
	before, known := s.Submitted[in.Instance]
	return !known || before.ID != in.ID
}

// isWhole reports whether a state has what every state has that was written here.
func (s *State) isWhole() bool {
	return !slices.ContainsFunc(s.History, func(c Change) bool { return c.Ended == nil })
}

// Specs returns the IDs of all specs that the state names, each once.
func (s *State) Specs() (ids []string) {
	if s.Published != nil {
		ids = append(ids, s.Published.ID)
	}
	if s.Candidate != nil {
		ids = append(ids, s.Candidate.ID)
	}
	for i := range s.History {
		ids = append(ids, s.History[i].ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Subject returns the change that news of a step are about; before is the state that
// it was taken from.
func (s *State) Subject(news News, before State) Change {
	switch {
	case s.Published != nil && (news == IsPublished || news == IsRolledBack && (before.Published == nil || before.Published.Number != s.Published.Number)):
		return *s.Published
	case s.Candidate != nil:
		return s.Candidate.Change
	case len(s.History) > 0:
		return s.History[0]
	}
	return Change{}
}
