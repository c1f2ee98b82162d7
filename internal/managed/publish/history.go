package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// Bounds of a site's history.
const (
	// maxChanges is the maximum number of past changes.
	maxChanges = 500
	// maxAge is the maximum age of a past change.
	maxAge = 365 * 24 * time.Hour
	// MaxLines is the maximum number of differences and of reasons of a change.
	MaxLines = 20
	// MaxText is the maximum length of a line, a name or a reason, in bytes.
	MaxText = 500

	maxInstances  = 256
	instanceLife  = 31 * 24 * time.Hour
	instanceRenew = 7 * 24 * time.Hour
)

// Empty is the spec without rules. The site then serves its own robots.txt.
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

// The states. A change is pending in the first three states, and past in the last three.
const (
	Waiting    State = "waiting"     // a person has to confirm it
	Shadow     State = "shadow"      // the guard compares live requests, without effect
	Canary     State = "canary"      // some hosts serve it
	Published  State = "published"   // all hosts serve it
	Superseded State = "superseded"  // another change was published
	RolledBack State = "rolled_back" // a person took it back
	Rejected   State = "rejected"    // it was replaced or stopped before publication
)

// ObservedStates returns the states that an [Observer] receives. Superseded is missing because the
// observer receives the new published change instead.
func ObservedStates() []State {
	return []State{Waiting, Shadow, Canary, Published, RolledBack, Rejected}
}

// ByTrial is the Who of a trial that rejects a change.
const ByTrial = "trial"

// By describes a decision.
type By struct {
	Who    string    `json:"who"`
	Why    string    `json:"why,omitempty"`
	Ticket string    `json:"ticket,omitempty"`
	At     time.Time `json:"at"`
}

// Rollout configures the trial of a change before publication.
type Rollout struct {
	State   State    `json:"state,omitempty"`   // Shadow or Canary; "" publishes immediately
	Seconds int64    `json:"seconds,omitempty"` // length of the trial; 0 until a person promotes the change
	Hosts   []string `json:"hosts,omitempty"`   // of Canary
}

// Change is a submitted set of rules. If a spec is submitted twice, the two changes have the same ID.
type Change struct {
	Number int       `json:"number"` // sequence number of the change at its site
	ID     string    `json:"id"`     // of the spec
	Parent string    `json:"parent"` // the ID of the change that was published before
	Origin Origin    `json:"origin"`
	State  State     `json:"state"`
	Since  time.Time `json:"since"` // of the state
	// Until is the end of the trial. The zero time means that only a person ends the trial.
	Until   time.Time `json:"until,omitzero"`
	Rollout Rollout   `json:"rollout,omitzero"`
	Made    By        `json:"made"`
	// Restores is the number of the change that a rollback published again, 0 for none.
	Restores int `json:"restores,omitempty"`
	// Difference describes the change. Reasons explain why a person has to confirm the change. Each
	// has at most [MaxLines] lines.
	Difference []string `json:"difference,omitempty"`
	Reasons    []string `json:"reasons,omitempty"`
	Confirmed  *By      `json:"confirmed,omitempty"`
	Promoted   *By      `json:"promoted,omitempty"` // by a person, before the end of the trial
	// ReadBy are the crawlers that fetched the robots.txt while the change was published. Only the
	// instance that published the next change observed these fetches.
	ReadBy    []string  `json:"read_by,omitempty"`
	Published time.Time `json:"published,omitzero"` // zero if never
	Ended     *By       `json:"ended,omitempty"`    // nil while the change is pending or published
}

// IsOnTrial reports whether a trial of the change runs. It returns false for nil.
func (c *Change) IsOnTrial() bool { return c != nil && (c.State == Shadow || c.State == Canary) }

// IsRejectedByTrial reports whether the trial of a change rejected it.
func (c *Change) IsRejectedByTrial() bool { return c.State == Rejected && c.Ended.Who == ByTrial }

// History contains the changes of a site. The zero History is empty. Its methods return a modified
// copy.
type History struct {
	Published *Change  `json:"published,omitempty"` // nil if none
	Pending   *Change  `json:"pending,omitempty"`   // waits or is on trial; nil if none
	Past      []Change `json:"history,omitempty"`   // newest first
	// Changes is the number of all changes ever made. Revision is the number of all writes.
	Changes  int   `json:"changes"`
	Revision int64 `json:"revision"`
	// Latest is the ID of the latest submission of all instances. Submitted maps an instance to its
	// latest submission. An instance that restarts with the same rules submits nothing. A rollback
	// therefore lasts until the configuration changes.
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

// subject returns the change for a verb without an ID, or nil.
func (h *History) subject(verb string) *Change {
	if verb == "rollback" && (h.Pending == nil || h.Pending.State != Canary) {
		return h.Published
	}
	return h.Pending
}

// IsNew reports whether a submission differs from the latest submissions of its instance and of all
// instances. A change that a trial rejected is new if it is now submitted without a trial.
func (h *History) IsNew(instance string, c *Change) bool {
	if c.ID == h.Latest {
		return c.Rollout.State == "" && h.Pending == nil && h.wasStopped(c.ID)
	}
	before, known := h.Submitted[instance]
	return !known || before.ID != c.ID
}

// wasStopped reports whether the latest change has this ID and its trial rejected it.
func (h *History) wasStopped(id string) bool {
	if len(h.Past) == 0 || h.Past[0].ID != id || !h.Past[0].IsRejectedByTrial() {
		return false
	}
	return h.Published == nil || h.Published.Number < h.Past[0].Number
}

// hasEnds reports whether every past change has an end.
func (h *History) hasEnds() bool {
	return !slices.ContainsFunc(h.Past, func(c Change) bool { return c.Ended == nil })
}

// Specs returns the IDs of all specs in the history, without duplicates.
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
