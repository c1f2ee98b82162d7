package publish

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var epoch = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// act is a step with its ID and the expected result.
type act struct {
	do, id string
	state  State
	err    error
	then   string // expected published/pending
}

// play runs steps one hour apart. "submit" submits a change, and "ask" a change that needs
// confirmation. "hosts" submits a change with a canary of two hours, and "other" submits from another
// instance.
func play(t *testing.T, acts []act) History {
	t.Helper()
	var s History
	for i, a := range acts {
		now := epoch.Add(time.Duration(i) * time.Hour)
		by := Decision{User: "ann", Reason: "because", Ticket: "T-1"}
		instance, in := "one", Change{ID: a.id, Origin: FromConfiguration, Submitted: by}
		var changed *Change
		var err error
		before := s
		switch a.do {
		case "other":
			instance = "two"
			s, changed = s.Submit(instance, in, now)
		case "submit":
			s, changed = s.Submit(instance, in, now)
		case "ask":
			in.Reasons = []string{"Googlebot may not fetch / any more"}
			s, changed = s.Submit(instance, in, now)
		case "ask hosts":
			in.Reasons, in.Rollout = []string{"why"}, Rollout{State: Canary, Hosts: []string{"a.test"}}
			s, changed = s.Submit(instance, in, now)
		case "hosts":
			in.Rollout = Rollout{State: Canary, Hosts: []string{"a.test"}, Seconds: 7200}
			s, changed = s.Submit(instance, in, now)
		case "confirm":
			s, changed, err = s.Confirm(a.id, by, now)
		case "promote":
			s, changed, err = s.Promote(a.id, by, now)
		case "stop":
			s, changed, err = s.Stop(a.id, by, now)
		case "rollback":
			s, changed, err = s.Rollback(a.id, by, now)
		case "advance":
			s, changed = s.Advance(now)
		default:
			t.Fatalf("unknown step %q", a.do)
		}
		if stateOf(changed) != a.state || !errors.Is(err, a.err) || (err == nil) != (a.err == nil) {
			t.Fatalf("step %d, %s %s: got %q, %v; want %q, %v", i, a.do, a.id, stateOf(changed), err, a.state, a.err)
		}
		if got := inForce(s); got != a.then {
			t.Fatalf("step %d, %s %s: %s; want %s", i, a.do, a.id, got, a.then)
		}
		if err != nil && inForce(before) != inForce(s) {
			t.Fatalf("step %d changed something and failed", i)
		}
	}
	return s
}

// stateOf returns the state of a changed change, or "".
func stateOf(c *Change) State {
	if c == nil {
		return ""
	}
	return c.State
}

func inForce(s History) string {
	published, pending := "-", "-"
	if s.Published != nil {
		published = s.Published.ID
	}
	if s.Pending != nil {
		pending = s.Pending.ID + ":" + string(s.Pending.State)
	}
	return published + "/" + pending
}

func TestSteps(t *testing.T) {
	empty := SpecID(Empty)
	for name, acts := range map[string][]act{
		"published at once": {
			{"submit", "a", Published, nil, "a/-"},
			{"submit", "a", "", nil, "a/-"},
			{"submit", "b", Published, nil, "b/-"},
		},
		"confirmed": {
			{"submit", "a", Published, nil, "a/-"},
			{"ask", "b", Waiting, nil, "a/b:waiting"},
			{"ask", "b", "", nil, "a/b:waiting"},
			{"promote", "b", "", ErrUnconfirmed, "a/b:waiting"},
			{"stop", "b", "", ErrUnconfirmed, "a/b:waiting"},
			{"advance", "", "", nil, "a/b:waiting"},
			{"confirm", "x", "", ErrOther, "a/b:waiting"},
			{"confirm", "b", Published, nil, "b/-"},
			{"confirm", "b", "", ErrNonePending, "b/-"},
		},
		"the first of all waits": {
			{"ask", "a", Waiting, nil, "-/a:waiting"},
			{"rollback", "", "", ErrUnknown, "-/a:waiting"},
			{"confirm", "", Published, nil, "a/-"},
		},
		"rejected by another": {
			{"submit", "a", Published, nil, "a/-"},
			{"ask", "b", Waiting, nil, "a/b:waiting"},
			{"ask", "c", Waiting, nil, "a/c:waiting"},
			{"submit", "d", Published, nil, "d/-"},
		},
		"rejected by what is published": {
			{"submit", "a", Published, nil, "a/-"},
			{"ask", "b", Waiting, nil, "a/b:waiting"},
			{"submit", "a", Rejected, nil, "a/-"},
		},
		"tried and promoted": {
			{"submit", "a", Published, nil, "a/-"},
			{"hosts", "b", Canary, nil, "a/b:canary"},
			{"confirm", "b", "", ErrConfirmed, "a/b:canary"},
			{"promote", "b", Published, nil, "b/-"},
		},
		"tried for its time": {
			{"submit", "a", Published, nil, "a/-"},
			{"hosts", "b", Canary, nil, "a/b:canary"},
			{"advance", "", "", nil, "a/b:canary"},
			{"advance", "", Published, nil, "b/-"},
			{"advance", "", "", nil, "b/-"},
		},
		"tried until somebody promotes it": {
			{"ask hosts", "a", Waiting, nil, "-/a:waiting"},
			{"confirm", "a", Canary, nil, "-/a:canary"},
			{"advance", "", "", nil, "-/a:canary"},
			{"promote", "", Published, nil, "a/-"},
		},
		"stopped": {
			{"submit", "a", Published, nil, "a/-"},
			{"hosts", "b", Canary, nil, "a/b:canary"},
			{"stop", "b", Rejected, nil, "a/-"},
			{"hosts", "b", "", nil, "a/-"}, // the previous configuration again
			{"promote", "b", "", ErrNonePending, "a/-"},
		},
		"a rollback holds": {
			{"submit", "a", Published, nil, "a/-"},
			{"submit", "b", Published, nil, "b/-"},
			{"rollback", "", RolledBack, nil, "a/-"},
			{"submit", "b", "", nil, "a/-"},
			{"other", "b", "", nil, "a/-"}, // the other instance is late
			{"submit", "c", Published, nil, "c/-"},
		},
		"rollbacks go back and back": {
			{"submit", "a", Published, nil, "a/-"},
			{"submit", "b", Published, nil, "b/-"},
			{"submit", "c", Published, nil, "c/-"},
			{"rollback", "", RolledBack, nil, "b/-"},
			{"rollback", "", RolledBack, nil, "a/-"},
			{"rollback", "", RolledBack, nil, empty + "/-"},
			{"rollback", "", "", ErrIsFirst, empty + "/-"},
			{"rollback", empty, "", ErrIsPublished, empty + "/-"},
			{"rollback", "c", RolledBack, nil, "c/-"},
			{"rollback", "", RolledBack, nil, "b/-"},
			{"rollback", "b", "", ErrIsPublished, "b/-"},
			{"rollback", "x", "", ErrUnknown, "b/-"},
		},
		"back and forth": {
			{"submit", "a", Published, nil, "a/-"},
			{"submit", "b", Published, nil, "b/-"},
			{"submit", "a", Published, nil, "a/-"},
			{"rollback", "", RolledBack, nil, "b/-"},
			{"rollback", "", RolledBack, nil, "a/-"},
			{"rollback", "", RolledBack, nil, empty + "/-"},
		},
		"a rollback takes back what hosts have": {
			{"submit", "a", Published, nil, "a/-"},
			{"hosts", "b", Canary, nil, "a/b:canary"},
			{"rollback", "", RolledBack, nil, "a/-"},
			{"rollback", "b", "", ErrUnknown, "a/-"}, // b was never published
		},
		"a rollback of what is published": {
			{"submit", "a", Published, nil, "a/-"},
			{"submit", "b", Published, nil, "b/-"},
			{"ask", "c", Waiting, nil, "b/c:waiting"},
			{"rollback", "", RolledBack, nil, "a/-"},
		},
		"a restart of an old instance undoes nothing": {
			{"submit", "a", Published, nil, "a/-"},
			{"other", "a", "", nil, "a/-"},
			{"other", "b", Published, nil, "b/-"},
			{"submit", "a", "", nil, "b/-"},
			{"submit", "b", "", nil, "b/-"},
		},
	} {
		t.Run(name, func(t *testing.T) { play(t, acts) })
	}
}

// TestHistory checks the recorded state, person and reason of each change.
func TestHistory(t *testing.T) {
	s := play(t, []act{
		{"submit", "a", Published, nil, "a/-"},
		{"ask", "b", Waiting, nil, "a/b:waiting"},
		{"confirm", "b", Published, nil, "b/-"},
		{"hosts", "c", Canary, nil, "b/c:canary"},
		{"stop", "c", Rejected, nil, "b/-"},
		{"rollback", "a", RolledBack, nil, "a/-"},
		{"ask", "d", Waiting, nil, "a/d:waiting"},
		{"submit", "e", Published, nil, "e/-"},
	})
	var got []string
	for _, c := range s.Past {
		got = append(got, fmt.Sprintf("%d %s<%s %s %s", c.Number, c.ID, c.Parent, c.Origin, c.State))
	}
	if all := strings.Join(got, ", "); all != strings.Join([]string{
		"4 a<b rollback superseded", "5 d<a configuration rejected", "2 b<a configuration rolled_back",
		"3 c<b configuration rejected", "1 a<" + SpecID(Empty) + " configuration superseded",
	}, ", ") {
		t.Errorf("got %s", all)
	}
	b := s.Past[2]
	if by := b.ConfirmedBy; by == nil || by.User != "ann" || by.Reason != "because" || by.Ticket != "T-1" || !by.At.Equal(epoch.Add(2*time.Hour)) {
		t.Errorf("confirmed by %+v", by)
	}
	if len(b.Reasons) != 1 || !b.PublishedAt.Equal(epoch.Add(2*time.Hour)) || !b.EndedBy.At.Equal(epoch.Add(5*time.Hour)) {
		t.Errorf("got %+v", b)
	}
	if specs := s.SpecIDs(); !slices.Equal(specs, []string{"a", "b", "c", "d", "e"}) {
		t.Errorf("specs %v", specs)
	}
}

// TestHistoryIsBounded limits the history by number and age. The last published change always stays.
func TestHistoryIsBounded(t *testing.T) {
	var s History
	for i := range maxChanges + 50 {
		s, _ = s.Submit(fmt.Sprint("host", i), Change{ID: fmt.Sprint(i)}, epoch.Add(time.Duration(i)*time.Minute))
	}
	if len(s.Past) != maxChanges || s.Past[0].ID != fmt.Sprint(maxChanges+48) || s.ChangeCount != maxChanges+50 {
		t.Errorf("%d changes of %d, the first %s", len(s.Past), s.ChangeCount, s.Past[0].ID)
	}
	if len(s.SubmittedByInstance) > maxInstances {
		t.Errorf("%d instances", len(s.SubmittedByInstance))
	}
	late := epoch.Add(2 * maxAge)
	s, _ = s.Submit("one", Change{ID: "late"}, late)
	s, _ = s.Submit("one", Change{ID: "later", Reasons: make([]string, 100)}, late.Add(1))
	if len(s.Past) != 1 || len(s.SubmittedByInstance) != 1 || len(s.Pending.Reasons) != MaxLines || s.Pending.Reasons[MaxLines-1] != "and 81 more" {
		t.Errorf("%d changes, %d instances, %d reasons", len(s.Past), len(s.SubmittedByInstance), len(s.Pending.Reasons))
	}
	if s, changed, err := s.Rollback("", Decision{}, late.Add(2)); stateOf(changed) != RolledBack || err != nil || s.Published.ID != fmt.Sprint(maxChanges+49) {
		t.Errorf("got %q, %v, %+v", stateOf(changed), err, s.Published)
	}
}

// TestRollbackAfterManyWaitingChanges replaces more waiting changes than the history keeps. Few of
// them stay, and rollbacks go back to each published change.
func TestRollbackAfterManyWaitingChanges(t *testing.T) {
	var s History
	for i, id := range []string{"a", "b", "c"} {
		s, _ = s.Submit("one", Change{ID: id}, epoch.Add(time.Duration(i)*time.Minute))
	}
	for i := range maxChanges + 50 {
		s, _ = s.Submit("one", Change{ID: fmt.Sprint("waiting ", i), Reasons: []string{"why"}}, epoch.Add(time.Duration(i+3)*time.Minute))
	}
	if len(s.Past) != maxRejected+2 || s.Past[0].ID != fmt.Sprint("waiting ", maxChanges+48) || s.Past[maxRejected].ID != "b" {
		t.Errorf("%d changes, the first is %s", len(s.Past), s.Past[0].ID)
	}
	for i, id := range []string{"b", "a", SpecID(Empty)} {
		var err error
		if s, _, err = s.Rollback("", Decision{}, epoch.Add(time.Duration(i+24)*time.Hour)); err != nil || s.Published.ID != id {
			t.Errorf("rollback %d: %v, %+v, want %s", i, err, s.Published, id)
		}
	}
}

// TestNotedBesideTheFuture fills the submissions with times from a wrong clock. A new submission is
// recorded anyway, so a rollback lasts.
func TestNotedBesideTheFuture(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var all map[string]InstanceSubmission
	for i := range maxInstances {
		all = addSubmission(all, fmt.Sprint("ahead ", i), InstanceSubmission{"x", now.AddDate(1, 0, 0)})
	}
	for _, instance := range []string{"one", "two"} {
		all = addSubmission(all, instance, InstanceSubmission{"x", now})
	}
	if len(all) != maxInstances || all["one"].ID != "x" || all["two"].ID != "x" {
		t.Errorf("of %d, one is %+v and two %+v", len(all), all["one"], all["two"])
	}
}
