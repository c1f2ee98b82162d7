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

// SpecID returns the ID of an encoded spec, which is also the ID of its change: the first 16
// hexadecimal digits of its SHA-256.
func SpecID(spec []byte) string {
	sum := sha256.Sum256(spec)
	return hex.EncodeToString(sum[:8])
}

// Origin says where a change came from.
type Origin string

// The origins.
const (
	FromConfiguration Origin = "configuration"
	FromRules         Origin = "rules"    // A list of rules has changed.
	FromRollback      Origin = "rollback" // A person published an earlier change again.
)

// State is the state of a change.
type State string

// The states. A change is pending in the first three states, and past in the last three.
const (
	Waiting    State = "waiting"     // Waiting means that a person has to confirm the change.
	Shadow     State = "shadow"      // Shadow means that the guard compares live requests, without effect on them.
	Canary     State = "canary"      // Canary means that some hosts serve the change.
	Published  State = "published"   // Published means that all hosts serve the change.
	Superseded State = "superseded"  // Superseded means that another change was published after this one.
	RolledBack State = "rolled_back" // RolledBack means that a person took the change back.
	Rejected   State = "rejected"    // Rejected means that the change was replaced or stopped before publication.
)

// ObservedStates returns the states that are reported to [Observer].OnChangeState. Superseded is
// missing, because the observer receives the newly published change instead.
func ObservedStates() []State {
	return []State{Waiting, Shadow, Canary, Published, RolledBack, Rejected}
}

// ByTrial is the User of the decision when a trial rejects a change.
const ByTrial = "trial"

// Decision says who submitted, confirmed, promoted or ended a change, when and why.
type Decision struct {
	User   string    `json:"who"`
	Reason string    `json:"why,omitempty"`
	Ticket string    `json:"ticket,omitempty"`
	At     time.Time `json:"at"`
}

// Rollout configures the trial of a change before publication. The zero value publishes without a
// trial.
type Rollout struct {
	State State `json:"state,omitempty"` // State is Shadow or Canary. "" publishes the change immediately.
	// Seconds is the length of the trial. With 0 it ends when a person promotes the change.
	Seconds int64    `json:"seconds,omitempty"`
	Hosts   []string `json:"hosts,omitempty"` // Hosts are the hosts that serve the change during a canary.
}

// Change is a set of rules that was submitted for a site, and its way to publication. Its ID
// identifies the rules, so two changes with the same rules have the same ID.
type Change struct {
	Number int       `json:"number"` // sequence number of the change at its site
	ID     string    `json:"id"`     // ID is the ID of the change's spec.
	Parent string    `json:"parent"` // Parent is the ID of the change that was published before.
	Origin Origin    `json:"origin"`
	State  State     `json:"state"`
	Since  time.Time `json:"since"` // Since is the time at which the change got its state.
	// TrialEnd is the end of the trial, or zero if the trial ends only when a person promotes or stops
	// it.
	TrialEnd  time.Time `json:"until,omitzero"`
	Rollout   Rollout   `json:"rollout,omitzero"`
	Submitted Decision  `json:"made"`
	// Restores is the number of the change that a rollback restored. It is 0 for other changes.
	Restores int `json:"restores,omitempty"`
	// Difference has a line for each rule that the change adds or removes. Reasons say why a person
	// must confirm the change. Both have at most [MaxLines] lines.
	Difference  []string  `json:"difference,omitempty"`
	Reasons     []string  `json:"reasons,omitempty"`
	ConfirmedBy *Decision `json:"confirmed,omitempty"`
	// PromotedBy is set if a person published the change before the end of its trial.
	PromotedBy *Decision `json:"promoted,omitempty"`
	// FetchedBy are the crawlers that fetched the robots.txt while the change was published, as far
	// as the instance that published the next change has seen them.
	FetchedBy   []string  `json:"read_by,omitempty"`
	PublishedAt time.Time `json:"published,omitzero"` // PublishedAt is zero if the change was never published.
	EndedBy     *Decision `json:"ended,omitempty"`    // EndedBy is nil while the change is pending or published.
}

// IsOnTrial reports whether the change is on trial. It is false for nil.
func (c *Change) IsOnTrial() bool { return c != nil && (c.State == Shadow || c.State == Canary) }

// IsRejectedByTrial reports whether the change was on trial, and the trial rejected it.
func (c *Change) IsRejectedByTrial() bool { return c.State == Rejected && c.EndedBy.User == ByTrial }

// History has the published, the pending and the past changes of a site. The zero History is empty.
// Methods with a value receiver return a modified copy.
type History struct {
	Published *Change `json:"published,omitempty"` // Published is nil if no change is published.
	// Pending waits for confirmation or is on trial. It is nil if there is no such change.
	Pending *Change  `json:"pending,omitempty"`
	Past    []Change `json:"history,omitempty"` // Past has the newest change first.
	// ChangeCount is the number of all changes ever made. Revision is the number of all writes.
	ChangeCount int   `json:"changes"`
	Revision    int64 `json:"revision"`
	// LatestSubmission is the ID of the rules that any instance submitted last, and
	// SubmittedByInstance has the last submission of each. An instance that restarts with the same
	// rules submits nothing, so a rollback lasts until the configuration changes.
	LatestSubmission    string                        `json:"latest,omitempty"`
	SubmittedByInstance map[string]InstanceSubmission `json:"submitted,omitempty"`
}

// InstanceSubmission is the last submission of an instance.
type InstanceSubmission struct {
	ID string    `json:"id"`
	At time.Time `json:"at"` // At is the time of the submission or of its last renewal.
}

// PublishedID returns the ID of the published rules. Before the first change, it is the ID of
// [Empty].
func (h *History) PublishedID() string {
	if h.Published == nil {
		return SpecID(Empty)
	}
	return h.Published.ID
}

// changeForAction returns the change that an action without an ID applies to, or nil.
func (h *History) changeForAction(verb string) *Change {
	if verb == "rollback" && (h.Pending == nil || h.Pending.State != Canary) {
		return h.Published
	}
	return h.Pending
}

// IsNewSubmission reports whether the rules of c differ from the last submission of this instance
// and from the last submission of any instance. Rules that their trial has rejected are new if c
// has no trial.
func (h *History) IsNewSubmission(instance string, c *Change) bool {
	if c.ID == h.LatestSubmission {
		return c.Rollout.State == "" && h.Pending == nil && h.isLatestRejectedByTrial(c.ID)
	}
	before, known := h.SubmittedByInstance[instance]
	return !known || before.ID != c.ID
}

// isLatestRejectedByTrial reports whether the latest change has this ID and was rejected by its
// trial.
func (h *History) isLatestRejectedByTrial(id string) bool {
	if len(h.Past) == 0 || h.Past[0].ID != id || !h.Past[0].IsRejectedByTrial() {
		return false
	}
	return h.Published == nil || h.Published.Number < h.Past[0].Number
}

// allPastEnded reports whether every past change has a record of its end.
func (h *History) allPastEnded() bool {
	return !slices.ContainsFunc(h.Past, func(c Change) bool { return c.EndedBy == nil })
}

// SpecIDs returns the sorted IDs of the rules of all changes, without duplicates.
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

// These are the errors of steps that are impossible in the present state.
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

// Each step returns the new history, and the change whose state the step has set, or nil.

// Submit records that an instance submitted c, and publishes c. If c has reasons for a
// confirmation, c waits for the confirmation instead. Otherwise, if c has a rollout, the trial of c
// begins. If the instance submitted c before or c is pending already, nothing else changes. If the
// rules of c are published already, Submit only rejects the pending change.
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

// addSubmission returns a copy of before with the last submission of an instance. Submissions older
// than 31 days are dropped. If too many remain, the one whose time is farthest from now is dropped,
// because a time in the future comes from a wrong clock and would never expire.
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

// rollOut starts the trial of c, or publishes c if it has no trial.
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

// publish publishes c. No change is pending afterwards.
func (h History) publish(c Change, now time.Time) (History, *Change) {
	h.Pending = nil
	h = h.replacePublished(c, Superseded, c.Submitted.User, now)
	return h, h.Published
}

// replacePublished publishes c. The previously published change becomes a past change with the
// state end. who is the person or trial that caused this.
func (h History) replacePublished(c Change, end State, who string, now time.Time) History {
	if h.Published != nil {
		h = h.moveToPast(*h.Published, end, Decision{User: who, At: now})
	}
	c.State, c.Since, c.TrialEnd, c.PublishedAt = Published, now, time.Time{}, now
	h.Published = &c
	return h
}

// rejectPending rejects the pending change, if there is one, because another change takes its
// place.
func (h History) rejectPending(by Decision) (History, *Change) {
	if h.Pending == nil {
		return h, nil
	}
	return h.endPending(Rejected, Decision{User: by.User, At: by.At})
}

// endPending makes the pending change a past change with this state.
func (h History) endPending(state State, by Decision) (History, *Change) {
	h = h.moveToPast(*h.Pending, state, by)
	h.Pending = nil
	return h, &h.Past[0]
}

// moveToPast adds c to the past changes with this state, and drops past changes that are too old or
// too many. The last change that was published stays, so that a rollback is possible.
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

// maxRejected is the maximum number of past changes that were never published.
const maxRejected = 20

// dropOldRejected drops, in place, the changes that were never published, except the latest
// maxRejected. They must not replace the published changes, to which a rollback returns.
func dropOldRejected(past []Change) []Change {
	seen := 0
	return slices.DeleteFunc(past, func(c Change) bool {
		if c.PublishedAt.IsZero() {
			seen++
		}
		return c.PublishedAt.IsZero() && seen > maxRejected
	})
}

// Confirm starts the rollout of the pending change, after a person has confirmed it.
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

// Promote publishes the pending change before its trial ends.
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

// Advance publishes the pending change if its trial has ended at now.
func (h History) Advance(now time.Time) (History, *Change) {
	if c := h.Pending; !c.IsOnTrial() || c.TrialEnd.IsZero() || now.Before(c.TrialEnd) {
		return h, nil
	}
	return h.publish(*h.Pending, now)
}

// Stop rejects the pending change, which must be on trial.
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

// checkPending returns an error if no change is pending or the pending change has another ID. An
// empty id matches any change.
func (h *History) checkPending(id string) error {
	switch {
	case h.Pending == nil:
		return ErrNonePending
	case id != "" && id != h.Pending.ID:
		return fmt.Errorf("%w: %s", ErrOther, h.Pending.ID)
	}
	return nil
}

// Rollback publishes the rules of the change with this ID again, at once, and rejects a pending
// change. Without an ID, Rollback ends a canary. If there is no canary, it publishes the rules that
// were in force before the published change. Before the first change, the empty set of rules was in
// force.
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
		if id, number, err = h.findChangeToRestore(); err != nil {
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

// findChangeToRestore returns the ID of the rules that a rollback without an ID restores, and the
// number of a change that was made after them. If the published change was itself restored, its
// original number is used, so each further rollback goes further back.
func (h *History) findChangeToRestore() (id string, number int, err error) {
	current := h.Published
	for current.Origin == FromRollback {
		if current.ID == SpecID(Empty) {
			return "", 0, ErrIsFirst
		}
		// The second condition ends the loop.
		i := slices.IndexFunc(h.Past, func(c Change) bool { return c.Number == current.Restores && c.Number < current.Number })
		if i < 0 {
			return "", 0, fmt.Errorf("%w: the change before %s is no longer in the history", ErrUnknown, current.ID)
		}
		current = &h.Past[i]
	}
	return current.Parent, current.Number, nil
}

// lastPublishedBefore returns the last change that was published, has this ID and a number below
// number, or nil.
func (h *History) lastPublishedBefore(id string, number int) *Change {
	for i := range h.Past {
		if c := &h.Past[i]; c.ID == id && c.Number < number && !c.PublishedAt.IsZero() {
			return c
		}
	}
	if p := h.Published; p != nil && p.ID == id && p.Number < number {
		return p
	}
	return nil
}

// limitLines returns at most [MaxLines] lines, each cut to [MaxText] bytes. If lines are left out,
// the last line has their number.
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
