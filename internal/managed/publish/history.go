package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// Bounds of a site's history.
const (
	// mostChanges bounds the past changes.
	mostChanges = 500
	// keptFor bounds the age of a past change.
	keptFor = 365 * 24 * time.Hour
	// MostLines bounds the differences and the reasons of a change.
	MostLines = 20
	// MostText bounds a line, a name or a why, in bytes.
	MostText = 500

	mostInstances = 256
	instanceLife  = 31 * 24 * time.Hour
	instanceRenew = 7 * 24 * time.Hour
)

// Empty is the spec without rules, with which the site serves its own robots.txt.
var Empty = []byte("{}")

// IDOf returns the ID of a spec: the first 16 hexadecimal digits of its SHA-256.
func IDOf(spec []byte) string {
	sum := sha256.Sum256(spec)
	return hex.EncodeToString(sum[:8])
}

// Origin is the source of a change.
type Origin string

// The origins.
const (
	FromConfiguration Origin = "configuration"
	FromRules         Origin = "rules"    // a list of rules has changed
	FromRollback      Origin = "rollback" // a person published an earlier change again
)

// State is the state of a change.
type State string

// The states. A change is pending in the first three, and past in the last three.
const (
	Waiting    State = "waiting"     // a person has to confirm it
	Shadow     State = "shadow"      // requests are also judged by the change, without effect
	Canary     State = "canary"      // some hosts serve it
	Published  State = "published"   // all hosts serve it
	Superseded State = "superseded"  // another change was published
	RolledBack State = "rolled_back" // a person took it back
	Rejected   State = "rejected"    // it was replaced or stopped before it was published
)

// ObservedStates returns the states that an [Observer] gets. A change is superseded when another is
// published, which the observer gets in its place.
func ObservedStates() []State {
	return []State{Waiting, Shadow, Canary, Published, RolledBack, Rejected}
}

// ByTrial is the Who of a trial that rejects a change.
const ByTrial = "trial"

// By is a decision: who, why and when.
type By struct {
	Who    string    `json:"who"`
	Why    string    `json:"why,omitempty"`
	Ticket string    `json:"ticket,omitempty"`
	At     time.Time `json:"at"`
}

// Rollout is the trial of a change before it is published.
type Rollout struct {
	State   State    `json:"state,omitempty"`   // Shadow or Canary; "" publishes at once
	Seconds int64    `json:"seconds,omitempty"` // the length of the trial; 0 until a person promotes the change
	Hosts   []string `json:"hosts,omitempty"`   // of Canary
}

// Change is a set of rules that was submitted. A spec that is submitted twice makes two changes with
// the same ID.
type Change struct {
	Number int       `json:"number"` // counts the changes of a site
	ID     string    `json:"id"`     // of its spec
	Parent string    `json:"parent"` // the ID of the change that was published before
	Origin Origin    `json:"origin"`
	State  State     `json:"state"`
	Since  time.Time `json:"since"` // of the state
	// Until is the end of the trial, zero if only a person ends the trial.
	Until   time.Time `json:"until,omitzero"`
	Rollout Rollout   `json:"rollout,omitzero"`
	Made    By        `json:"made"`
	// Restores is the number of the change that a rollback published again, 0 for none.
	Restores int `json:"restores,omitempty"`
	// Difference describes the change, and Reasons are why a person has to confirm the change, each
	// in at most [MostLines].
	Difference []string `json:"difference,omitempty"`
	Reasons    []string `json:"reasons,omitempty"`
	Confirmed  *By      `json:"confirmed,omitempty"`
	Promoted   *By      `json:"promoted,omitempty"` // by a person, before its time was over
	// ReadBy are the crawlers that fetched the robots.txt while the change was published, as known
	// to the instance that published the next change.
	ReadBy    []string  `json:"read_by,omitempty"`
	Published time.Time `json:"published,omitzero"` // zero if never
	Ended     *By       `json:"ended,omitempty"`    // nil while the change is pending or published
}

// OnTrial reports whether requests are judged by a change before it is published. It returns false
// for nil.
func (c *Change) OnTrial() bool { return c != nil && (c.State == Shadow || c.State == Canary) }

// StoppedByTrial reports whether the trial of a change rejected it.
func (c *Change) StoppedByTrial() bool { return c.State == Rejected && c.Ended.Who == ByTrial }

// History has the changes of a site. The zero History has none. Its methods return a modified copy.
type History struct {
	Published *Change  `json:"published,omitempty"` // nil if none
	Pending   *Change  `json:"pending,omitempty"`   // that waits or is on trial, nil for none
	Past      []Change `json:"history,omitempty"`   // the latest first
	// Changes counts all changes there ever were, Revision all writes.
	Changes  int   `json:"changes"`
	Revision int64 `json:"revision"`
	// Latest is the ID of the latest submission of all instances, and Submitted has the latest
	// submission of each. An instance that starts again with the same rules submits nothing, so that
	// a rollback lasts until the configuration changes.
	Latest    string               `json:"latest,omitempty"`
	Submitted map[string]Submitted `json:"submitted,omitempty"`
}

// Submitted is the latest submission of an instance.
type Submitted struct {
	ID string    `json:"id"`
	At time.Time `json:"at"` // of the submission, or its renewal
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

// IsNews reports whether a submission differs from the latest of its instance and of all instances.
// A change that a trial rejected is news if it is now submitted without a trial.
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

// isWhole reports whether every past change of a history has an end.
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
