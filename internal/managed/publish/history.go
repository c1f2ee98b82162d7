package publish

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
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

// SpecID returns the ID of a spec: the first 16 hexadecimal digits of its SHA-256.
func SpecID(spec []byte) string {
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

// ObservedStates returns the states reported to an [Observer]. Superseded is missing because the observer
// receives the new published change instead.
func ObservedStates() []State {
	return []State{Waiting, Shadow, Canary, Published, RolledBack, Rejected}
}

// ByTrial is the User of a trial that rejects a change.
const ByTrial = "trial"

// Decision describes a decision.
type Decision struct {
	User   string    `json:"who"`
	Reason string    `json:"why,omitempty"`
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
	// TrialEnd is the end of the trial. Without an end time, only a person ends the trial.
	TrialEnd  time.Time `json:"until,omitzero"`
	Rollout   Rollout   `json:"rollout,omitzero"`
	Submitted Decision  `json:"made"`
	// Restores is the number of the change restored by a rollback, or 0.
	Restores int `json:"restores,omitempty"`
	// Difference describes the change. Reasons explain why a person has to confirm the change. Each
	// has at most [MaxLines] lines.
	Difference  []string  `json:"difference,omitempty"`
	Reasons     []string  `json:"reasons,omitempty"`
	ConfirmedBy *Decision `json:"confirmed,omitempty"`
	PromotedBy  *Decision `json:"promoted,omitempty"` // by a person, before the end of the trial
	// FetchedBy are the crawlers that fetched the robots.txt while the change was published, as observed by the
	// instance that published the next change.
	FetchedBy   []string  `json:"read_by,omitempty"`
	PublishedAt time.Time `json:"published,omitzero"` // zero if never
	EndedBy     *Decision `json:"ended,omitempty"`    // nil while the change is pending or published
}

// IsOnTrial reports whether a trial of the change runs. The result is false for nil.
func (c *Change) IsOnTrial() bool { return c != nil && (c.State == Shadow || c.State == Canary) }

// IsRejectedByTrial reports whether the trial of a change rejected it.
func (c *Change) IsRejectedByTrial() bool { return c.State == Rejected && c.EndedBy.User == ByTrial }

// History contains the changes of a site. The zero History is empty. Its methods return a modified
// copy.
type History struct {
	Published *Change  `json:"published,omitempty"` // nil if none
	Pending   *Change  `json:"pending,omitempty"`   // waits or is on trial; nil if none
	Past      []Change `json:"history,omitempty"`   // newest first
	// ChangeCount is the number of all changes ever made. Revision is the number of all writes.
	ChangeCount int   `json:"changes"`
	Revision    int64 `json:"revision"`
	// LatestSubmission is the ID of the latest submission of all instances. Submitted maps an instance to its latest
	// submission. After a restart with the same rules, an instance submits nothing. A rollback therefore
	// lasts until the configuration changes.
	LatestSubmission    string                        `json:"latest,omitempty"`
	SubmittedByInstance map[string]InstanceSubmission `json:"submitted,omitempty"`
}

// InstanceSubmission is the latest submission of an instance.
type InstanceSubmission struct {
	ID string    `json:"id"`
	At time.Time `json:"at"` // of the submission, or its renewal
}

// PublishedID returns the ID of the published spec.
func (h *History) PublishedID() string {
	if h.Published == nil {
		return SpecID(Empty)
	}
	return h.Published.ID
}

// changeForAction returns the change for a verb without an ID, or nil.
func (h *History) changeForAction(verb string) *Change {
	if verb == "rollback" && (h.Pending == nil || h.Pending.State != Canary) {
		return h.Published
	}
	return h.Pending
}

// IsNewSubmission reports whether a submission differs from the latest submissions of its instance and of all
// instances. A change rejected by its trial is new if the new submission has no trial.
func (h *History) IsNewSubmission(instance string, c *Change) bool {
	if c.ID == h.LatestSubmission {
		return c.Rollout.State == "" && h.Pending == nil && h.isLatestRejectedByTrial(c.ID)
	}
	before, known := h.SubmittedByInstance[instance]
	return !known || before.ID != c.ID
}

// isLatestRejectedByTrial reports whether the latest change has this ID and its trial rejected it.
func (h *History) isLatestRejectedByTrial(id string) bool {
	if len(h.Past) == 0 || h.Past[0].ID != id || !h.Past[0].IsRejectedByTrial() {
		return false
	}
	return h.Published == nil || h.Published.Number < h.Past[0].Number
}

// allPastEnded reports whether every past change has an end.
func (h *History) allPastEnded() bool {
	return !slices.ContainsFunc(h.Past, func(c Change) bool { return c.EndedBy == nil })
}

// SpecIDs returns the IDs of all specs in the history, without duplicates.
func (h *History) SpecIDs() (ids []string) {
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

// Errors of steps that are impossible in the present state.
var (
	ErrNonePending = errors.New("no change waits for confirmation or is on trial")
	ErrOther       = errors.New("another change was submitted since")
	ErrUnconfirmed = errors.New("the change has to be confirmed first")
	ErrConfirmed   = errors.New("the change needs no confirmation")
	ErrUnknown     = errors.New("no change with this ID was published")
	ErrIsPublished = errors.New("that change is published already")
	ErrUnreadable  = errors.New("the rules of that change are lost or unknown to this version")
	ErrIsFirst     = errors.New("this is the first change; there is no older one to go back to")
)

// Each step returns the new history, and the change whose state it set. The change is nil if no state
// was set.

// Submit records the submission of an instance, and publishes the change. A change with reasons or a rollout
// becomes pending instead. A change with reasons has to be confirmed. Submit has no effect if the change is
// not new or is pending already. If the change is published already, Submit rejects a pending change.
func (h History) Submit(instance string, c Change, now time.Time) (History, *Change) {
	isNews := h.IsNewSubmission(instance, &c)
	if before := h.SubmittedByInstance[instance]; before.ID != c.ID || now.Sub(before.At) >= instanceRenew {
		h.SubmittedByInstance = addSubmission(h.SubmittedByInstance, instance, InstanceSubmission{c.ID, now})
	}
	if !isNews {
		return h, nil
	}
	h.LatestSubmission = c.ID
	c.Submitted.At = now
	if p := h.Published; p != nil && p.Origin == FromRollback && c.Origin == FromRules {
		c.Reasons = append(slices.Clone(c.Reasons), "the last change was rolled back, and a list of rules has changed since")
	}
	switch {
	case c.ID == h.PublishedID():
		return h.rejectPending(c.Submitted)
	case h.Pending != nil && h.Pending.ID == c.ID:
		return h, nil
	}
	h, _ = h.rejectPending(c.Submitted)
	h.ChangeCount++
	c.Number, c.Parent = h.ChangeCount, h.PublishedID()
	c.Difference, c.Reasons = limitLines(c.Difference), limitLines(c.Reasons)
	if len(c.Reasons) > 0 {
		c.State, c.Since, h.Pending = Waiting, now, &c
		return h, &c
	}
	return h.rollOut(c, now)
}

// addSubmission returns the submissions of instances with another submission. Instances without a submission
// for 31 days are dropped. If too many remain, the submission whose time is farthest from now is dropped. A
// time in the future comes from a wrong clock and would never expire.
func addSubmission(before map[string]InstanceSubmission, instance string, last InstanceSubmission) map[string]InstanceSubmission {
	after := maps.Clone(before)
	if after == nil {
		after = make(map[string]InstanceSubmission)
	}
	maps.DeleteFunc(after, func(_ string, s InstanceSubmission) bool { return last.At.Sub(s.At) > instanceLife })
	after[instance] = last
	for len(after) > maxInstances {
		distance := func(instance string) time.Duration { return last.At.Sub(after[instance].At).Abs() }
		delete(after, slices.MaxFunc(slices.Collect(maps.Keys(after)), func(a, b string) int { return cmp.Compare(distance(a), distance(b)) }))
	}
	return after
}

// rollOut starts the trial of a change, or publishes a change without a trial.
func (h History) rollOut(c Change, now time.Time) (History, *Change) {
	if c.Rollout.State == "" {
		return h.publish(c, now)
	}
	c.State, c.Since, c.TrialEnd = c.Rollout.State, now, time.Time{}
	if c.Rollout.Seconds > 0 {
		c.TrialEnd = now.Add(time.Duration(c.Rollout.Seconds) * time.Second)
	}
	h.Pending = &c
	return h, &c
}

// publish publishes the pending change.
func (h History) publish(c Change, now time.Time) (History, *Change) {
	h.Pending = nil
	h = h.replacePublished(c, Superseded, c.Submitted.User, now)
	return h, h.Published
}

// replacePublished replaces the published change, whose state becomes end.
func (h History) replacePublished(c Change, end State, who string, now time.Time) History {
	if h.Published != nil {
		h = h.moveToPast(*h.Published, end, Decision{User: who, At: now})
	}
	c.State, c.Since, c.TrialEnd, c.PublishedAt = Published, now, time.Time{}, now
	h.Published = &c
	return h
}

// rejectPending rejects the pending change in favor of another change.
func (h History) rejectPending(by Decision) (History, *Change) {
	if h.Pending == nil {
		return h, nil
	}
	return h.endPending(Rejected, Decision{User: by.User, At: by.At})
}

// endPending moves the pending change to the past.
func (h History) endPending(state State, by Decision) (History, *Change) {
	h = h.moveToPast(*h.Pending, state, by)
	h.Pending = nil
	return h, &h.Past[0]
}

// moveToPast moves a change to the past, and drops old and surplus past changes. The last published change
// stays for a rollback.
func (h History) moveToPast(c Change, state State, by Decision) History {
	c.State, c.Since, c.TrialEnd, c.EndedBy = state, by.At, time.Time{}, &by
	past := dropOldRejected(append([]Change{c}, h.Past...))
	past = past[:min(len(past), maxChanges)]
	last := slices.IndexFunc(past, func(c Change) bool { return !c.PublishedAt.IsZero() })
	for len(past) > last+1 && by.At.Sub(past[len(past)-1].EndedBy.At) > maxAge {
		past = past[:len(past)-1]
	}
	h.Past = past
	return h
}

// maxRejected is the maximum number of rejected changes by lists of rules.
const maxRejected = 20

// dropOldRejected drops, in place, all rejected changes by lists of rules except the latest. A frequently
// changing list must not fill the history.
func dropOldRejected(past []Change) []Change {
	seen := 0
	return slices.DeleteFunc(past, func(c Change) bool {
		if c.Origin != FromRules || c.State != Rejected {
			return false
		}
		seen++
		return seen > maxRejected
	})
}

// Confirm rolls out the pending change after confirmation by a person.
func (h History) Confirm(id string, by Decision, now time.Time) (History, *Change, error) {
	by.At = now
	if err := h.checkPending(id); err != nil {
		return h, nil, err
	}
	if h.Pending.State != Waiting {
		return h, nil, ErrConfirmed
	}
	c := *h.Pending
	c.ConfirmedBy = &by
	h, changed := h.rollOut(c, now)
	return h, changed, nil
}

// Promote publishes the pending change on trial.
func (h History) Promote(id string, by Decision, now time.Time) (History, *Change, error) {
	by.At = now
	if err := h.checkPending(id); err != nil {
		return h, nil, err
	}
	if !h.Pending.IsOnTrial() {
		return h, nil, ErrUnconfirmed
	}
	c := *h.Pending
	c.PromotedBy = &by
	h, changed := h.publish(c, now)
	return h, changed, nil
}

// Advance publishes the pending change if the time of its trial is over.
func (h History) Advance(now time.Time) (History, *Change) {
	if c := h.Pending; !c.IsOnTrial() || c.TrialEnd.IsZero() || now.Before(c.TrialEnd) {
		return h, nil
	}
	return h.publish(*h.Pending, now)
}

// Stop rejects the pending change on trial.
func (h History) Stop(id string, by Decision, now time.Time) (History, *Change, error) {
	by.At = now
	if err := h.checkPending(id); err != nil {
		return h, nil, err
	}
	if !h.Pending.IsOnTrial() {
		return h, nil, ErrUnconfirmed
	}
	h, changed := h.endPending(Rejected, by)
	return h, changed, nil
}

// checkPending returns an error if the pending change has another ID. An empty ID matches any change.
func (h *History) checkPending(id string) error {
	switch {
	case h.Pending == nil:
		return ErrNonePending
	case id != "" && id != h.Pending.ID:
		return fmt.Errorf("%w: %s", ErrOther, h.Pending.ID)
	}
	return nil
}

// Rollback immediately publishes the change with this ID again. Without an ID, Rollback stops a canary.
// Without a canary, the previous change is published, or no rules.
func (h History) Rollback(id string, by Decision, now time.Time) (History, *Change, error) {
	by.At = now
	if c := h.Pending; id == "" && c != nil && c.State == Canary {
		h, changed := h.endPending(RolledBack, by)
		return h, changed, nil
	}
	if h.Published == nil {
		return h, nil, fmt.Errorf("%w: nothing was published yet", ErrUnknown)
	}
	number := h.ChangeCount + 1
	if id == "" {
		var err error
		if id, number, err = h.changeToRestore(); err != nil {
			return h, nil, err
		}
	}
	restored := h.lastPublishedBefore(id, number)
	switch {
	case restored == nil && id != SpecID(Empty):
		return h, nil, fmt.Errorf("%w, or the history no longer has it: %s", ErrUnknown, id)
	case restored == nil:
		restored = &Change{ID: id}
	}
	if restored.ID == h.Published.ID {
		return h, nil, ErrIsPublished
	}
	h, _ = h.rejectPending(by)
	h.ChangeCount++
	h = h.replacePublished(Change{Number: h.ChangeCount, ID: restored.ID, Parent: h.Published.ID, Origin: FromRollback, Restores: restored.Number, Submitted: by}, RolledBack, by.User, now)
	return h, &h.Past[0], nil
}

// changeToRestore returns the ID of the change before the published change. The parent was published before the change
// with the returned number. After a rollback, the restored change has its original position. Each further
// rollback therefore goes further back.
func (h *History) changeToRestore() (id string, before int, err error) {
	current := h.Published
	for current.Origin == FromRollback {
		if current.ID == SpecID(Empty) {
			return "", 0, ErrIsFirst
		}
		i := slices.IndexFunc(h.Past, func(c Change) bool { return c.Number == current.Restores && c.Number < current.Number }) // the second condition ends the loop
		if i < 0 {
			return "", 0, fmt.Errorf("%w: the change before %s is no longer in the history", ErrUnknown, current.ID)
		}
		current = &h.Past[i]
	}
	return current.Parent, current.Number, nil
}

// lastPublishedBefore returns the last published change with an ID and a number below before, or nil.
func (h *History) lastPublishedBefore(id string, before int) *Change {
	for i := range h.Past {
		if c := &h.Past[i]; c.ID == id && c.Number < before && !c.PublishedAt.IsZero() {
			return c
		}
	}
	if p := h.Published; p != nil && p.ID == id && p.Number < before {
		return p
	}
	return nil
}

// limitLines returns the first [MaxLines] lines, each cut to [MaxText] bytes.
func limitLines(lines []string) []string {
	more := len(lines) - MaxLines
	lines = slices.Clone(lines[:min(len(lines), MaxLines)])
	for i := range lines {
		lines[i] = text.Truncate(lines[i], MaxText)
	}
	if more > 0 {
		lines[MaxLines-1] = fmt.Sprintf("and %d more", more+1)
	}
	return lines
}
