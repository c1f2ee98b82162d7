package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// Bounds of a site's history.
const (
	// mostChanges is how many past changes are kept.
	mostChanges = 500
	// keptFor is how long they are kept.
	keptFor = 365 * 24 * time.Hour
	// MostLines is how many differences or reasons of a change are kept.
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
	FromRollback      Origin = "rollback" // a person published an earlier change again
)

// State is how far a change has come.
type State string

// The states. A change is pending in the first three, and past in the last three.
const (
	Waiting    State = "waiting"     // a person has to confirm it
	Shadow     State = "shadow"      // requests are judged by it, too, without any effect
	Canary     State = "canary"      // some hosts serve it
	Published  State = "published"   // all hosts serve it
	Superseded State = "superseded"  // another change was published
	RolledBack State = "rolled_back" // a person took it back
	Rejected   State = "rejected"    // it was replaced or stopped before it was published
)

// ObservedStates returns the states that an [Observer] is told of. A change is superseded
// when another is published, so that state is not one of them.
func ObservedStates() []State {
	return []State{Waiting, Shadow, Canary, Published, RolledBack, Rejected}
}

// ByTrial is the name under which a trial rejects a change.
const ByTrial = "trial"

// By is who did something, and why.
type By struct {
	Who    string    `json:"who"`
	Why    string    `json:"why,omitempty"`
	Ticket string    `json:"ticket,omitempty"`
	At     time.Time `json:"at"`
}

// Rollout is how a change is tried before it is published.
type Rollout struct {
	State   State    `json:"state,omitempty"`   // Shadow or Canary; "" publishes at once
	Seconds int64    `json:"seconds,omitempty"` // how long it is tried; 0 until it is promoted
	Hosts   []string `json:"hosts,omitempty"`   // of Canary
}

// Change is a set of rules that the owner wants. A spec that is wanted twice makes two
// changes with the same ID.
type Change struct {
	Number int       `json:"number"` // counts the changes of a site
	ID     string    `json:"id"`     // of its spec
	Parent string    `json:"parent"` // the ID of what was published when it was made
	Origin Origin    `json:"origin"`
	State  State     `json:"state"`
	Since  time.Time `json:"since"` // of the state
	// Until is when a trial ends by itself, zero if only a person ends it.
	Until   time.Time `json:"until,omitzero"`
	Rollout Rollout   `json:"rollout,omitzero"`
	Made    By        `json:"made"`
	// Restores is the number of the change that a rollback published again, 0 for none.
	Restores int `json:"restores,omitempty"`
	// Difference is what it changes, and Reasons why a person has to confirm it. Each has
	// [MostLines] at most.
	Difference []string `json:"difference,omitempty"`
	Reasons    []string `json:"reasons,omitempty"`
	Confirmed  *By      `json:"confirmed,omitempty"`
	Promoted   *By      `json:"promoted,omitempty"` // by a person, before its time was over
	// ReadBy are the crawlers that fetched the robots.txt while it was published, as far
	// as the instance knows that published the next one.
	ReadBy    []string  `json:"read_by,omitempty"`
	Published time.Time `json:"published,omitzero"` // zero if it never was
	Ended     *By       `json:"ended,omitempty"`    // who ended it, nil while it is pending or published
}

// IsTried reports whether requests are judged by a change before it is published; false
// for nil.
func (c *Change) IsTried() bool { return c != nil && (c.State == Shadow || c.State == Canary) }

// StoppedByTrial reports whether its own trial rejected a change.
func (c *Change) StoppedByTrial() bool { return c.State == Rejected && c.Ended.Who == ByTrial }

// History has the changes of a site. The zero History is that of a site that never had
// any. Its methods return a modified copy.
type History struct {
	Published *Change  `json:"published,omitempty"` // nil if none ever was
	Pending   *Change  `json:"pending,omitempty"`   // that waits or is tried, nil for none
	Past      []Change `json:"history,omitempty"`   // the latest first
	// Changes counts all changes there ever were, Revision all writes.
	Changes  int   `json:"changes"`
	Revision int64 `json:"revision"`
	// Latest is the ID of what any instance submitted last, and Submitted what each
	// instance submitted last. An instance that starts with that again submits nothing, so
	// that a rollback holds until the configuration changes.
	Latest    string               `json:"latest,omitempty"`
	Submitted map[string]Submitted `json:"submitted,omitempty"`
}

// Submitted is what an instance submitted last.
type Submitted struct {
	ID string    `json:"id"`
	At time.Time `json:"at"` // when it was submitted, or renewed
}

// PublishedID returns the ID of the published spec.
func (h *History) PublishedID() string {
	if h.Published == nil {
		return IDOf(Empty)
	}
	return h.Published.ID
}

// subject returns the change that a verb without an ID is about, nil for none.
func (h *History) subject(verb string) *Change {
	if verb == "rollback" && (h.Pending == nil || h.Pending.State != Canary) {
		return h.Published
	}
	return h.Pending
}

// IsNews reports whether a submission is neither what its instance nor what the last of
// all submitted before, or wants to publish without a trial what its own trial rejected.
func (h *History) IsNews(instance string, c *Change) bool {
	if c.ID == h.Latest {
		return c.Rollout.State == "" && h.Pending == nil && h.wasStopped(c.ID)
	}
	before, known := h.Submitted[instance]
	return !known || before.ID != c.ID
}

// wasStopped reports whether the latest change has an ID and was rejected by its trial.
func (h *History) wasStopped(id string) bool {
	if len(h.Past) == 0 || h.Past[0].ID != id || !h.Past[0].StoppedByTrial() {
		return false
	}
	return h.Published == nil || h.Published.Number < h.Past[0].Number
}

// isWhole reports whether a history has what every history has that was written here.
func (h *History) isWhole() bool {
	return !slices.ContainsFunc(h.Past, func(c Change) bool { return c.Ended == nil })
}

// Specs returns the IDs of all specs that the history names, each once.
func (h *History) Specs() (ids []string) {
	if h.Published != nil {
		ids = append(ids, h.Published.ID)
	}
	if h.Pending != nil {
		ids = append(ids, h.Pending.ID)
	}
	for i := range h.Past {
		ids = append(ids, h.Past[i].ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
