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

// act is a step in a test: a word, an ID and what news or error are expected.
type act struct {
	do, id string
	news   News
	err    error
	then   string // published/candidate
}

// play takes steps, an hour after another. The words: "submit", "ask" for a submission
// that has to be confirmed, "hosts" for one that is tried at hosts for two hours,
// "other" for one by another instance.
func play(t *testing.T, acts []act) State {
	t.Helper()
	var s State
	for i, a := range acts {
		now := epoch.Add(time.Duration(i) * time.Hour)
		by := By{Who: "ann", Why: "because", Ticket: "T-1"}
		in := Submission{ID: a.id, Instance: "one", Origin: FromConfiguration, By: by}
		var news News
		var err error
		before := s
		switch a.do {
		case "other":
			in.Instance = "two"
			s, news = s.Submit(in, now)
		case "submit":
			s, news = s.Submit(in, now)
		case "ask":
			in.Reasons = []string{"Googlebot may not fetch / any more"}
			s, news = s.Submit(in, now)
		case "ask hosts":
			in.Reasons, in.Rollout = []string{"why"}, Rollout{Stage: Hosts, Hosts: []string{"a.test"}}
			s, news = s.Submit(in, now)
		case "hosts":
			in.Rollout = Rollout{Stage: Hosts, Hosts: []string{"a.test"}, Seconds: 7200}
			s, news = s.Submit(in, now)
		case "confirm":
			s, news, err = s.Confirm(a.id, by, now)
		case "promote":
			s, news, err = s.Promote(a.id, by, now)
		case "stop":
			s, news, err = s.Stop(a.id, by, now)
		case "rollback":
			s, news, err = s.Rollback(a.id, by, now)
		case "advance":
			s, news = s.Advance(now)
		default:
			t.Fatalf("unknown step %q", a.do)
		}
		if news != a.news || !errors.Is(err, a.err) || (err == nil) != (a.err == nil) {
			t.Fatalf("step %d, %s %s: got %q, %v; want %q, %v", i, a.do, a.id, news, err, a.news, a.err)
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

func inForce(s State) string {
	published, candidate := "-", "-"
	if s.Published != nil {
		published = s.Published.ID
	}
	if s.Candidate != nil {
		candidate = s.Candidate.ID + ":" + string(s.Candidate.Stage)
	}
	return published + "/" + candidate
}

func TestSteps(t *testing.T) {
	empty := IDOf(Empty)
	for name, acts := range map[string][]act{
		"published at once": {
			{"submit", "a", IsPublished, nil, "a/-"},
			{"submit", "a", Nothing, nil, "a/-"},
			{"submit", "b", IsPublished, nil, "b/-"},
		},
		"confirmed": {
			{"submit", "a", IsPublished, nil, "a/-"},
			{"ask", "b", HasToWait, nil, "a/b:confirmation"},
			{"ask", "b", Nothing, nil, "a/b:confirmation"},
			{"promote", "b", Nothing, ErrUnconfirmed, "a/b:confirmation"},
			{"stop", "b", Nothing, ErrUnconfirmed, "a/b:confirmation"},
			{"advance", "", Nothing, nil, "a/b:confirmation"},
			{"confirm", "x", Nothing, ErrOther, "a/b:confirmation"},
			{"confirm", "b", IsPublished, nil, "b/-"},
			{"confirm", "b", Nothing, ErrNoCandidate, "b/-"},
		},
		"the first of all waits": {
			{"ask", "a", HasToWait, nil, "-/a:confirmation"},
			{"rollback", "", Nothing, ErrUnknown, "-/a:confirmation"},
			{"confirm", "", IsPublished, nil, "a/-"},
		},
		"withdrawn by another": {
			{"submit", "a", IsPublished, nil, "a/-"},
			{"ask", "b", HasToWait, nil, "a/b:confirmation"},
			{"ask", "c", HasToWait, nil, "a/c:confirmation"},
			{"submit", "d", IsPublished, nil, "d/-"},
		},
		"withdrawn by what is published": {
			{"submit", "a", IsPublished, nil, "a/-"},
			{"ask", "b", HasToWait, nil, "a/b:confirmation"},
			{"submit", "a", IsWithdrawn, nil, "a/-"},
		},
		"tried and promoted": {
			{"submit", "a", IsPublished, nil, "a/-"},
			{"hosts", "b", IsTried, nil, "a/b:hosts"},
			{"confirm", "b", Nothing, ErrConfirmed, "a/b:hosts"},
			{"promote", "b", IsPublished, nil, "b/-"},
		},
		"tried for its time": {
			{"submit", "a", IsPublished, nil, "a/-"},
			{"hosts", "b", IsTried, nil, "a/b:hosts"},
			{"advance", "", Nothing, nil, "a/b:hosts"},
			{"advance", "", IsPublished, nil, "b/-"},
			{"advance", "", Nothing, nil, "b/-"},
		},
		"tried until somebody promotes it": {
			{"ask hosts", "a", HasToWait, nil, "-/a:confirmation"},
			{"confirm", "a", IsTried, nil, "-/a:hosts"},
			{"advance", "", Nothing, nil, "-/a:hosts"},
			{"promote", "", IsPublished, nil, "a/-"},
		},
		"stopped": {
			{"submit", "a", IsPublished, nil, "a/-"},
			{"hosts", "b", IsTried, nil, "a/b:hosts"},
			{"stop", "b", IsStopped, nil, "a/-"},
			{"hosts", "b", Nothing, nil, "a/-"}, // the configuration is as it was
			{"promote", "b", Nothing, ErrNoCandidate, "a/-"},
		},
		"a rollback holds": {
			{"submit", "a", IsPublished, nil, "a/-"},
			{"submit", "b", IsPublished, nil, "b/-"},
			{"rollback", "", IsRolledBack, nil, "a/-"},
			{"submit", "b", Nothing, nil, "a/-"},
			{"other", "b", Nothing, nil, "a/-"}, // that instance is late
			{"submit", "c", IsPublished, nil, "c/-"},
		},
		"rollbacks go back and back": {
			{"submit", "a", IsPublished, nil, "a/-"},
			{"submit", "b", IsPublished, nil, "b/-"},
			{"submit", "c", IsPublished, nil, "c/-"},
			{"rollback", "", IsRolledBack, nil, "b/-"},
			{"rollback", "", IsRolledBack, nil, "a/-"},
			{"rollback", "", IsRolledBack, nil, empty + "/-"},
			{"rollback", "", Nothing, ErrIsFirst, empty + "/-"},
			{"rollback", empty, Nothing, ErrIsPublished, empty + "/-"},
			{"rollback", "c", IsRolledBack, nil, "c/-"},
			{"rollback", "", IsRolledBack, nil, "b/-"},
			{"rollback", "b", Nothing, ErrIsPublished, "b/-"},
			{"rollback", "x", Nothing, ErrUnknown, "b/-"},
		},
		"back and forth": {
			{"submit", "a", IsPublished, nil, "a/-"},
			{"submit", "b", IsPublished, nil, "b/-"},
			{"submit", "a", IsPublished, nil, "a/-"},
			{"rollback", "", IsRolledBack, nil, "b/-"},
			{"rollback", "", IsRolledBack, nil, "a/-"},
			{"rollback", "", IsRolledBack, nil, empty + "/-"},
		},
		"a rollback takes back what hosts have": {
			{"submit", "a", IsPublished, nil, "a/-"},
			{"hosts", "b", IsTried, nil, "a/b:hosts"},
			{"rollback", "", IsRolledBack, nil, "a/-"},
			{"rollback", "b", Nothing, ErrUnknown, "a/-"}, // it never was published
		},
		"a rollback of what is published": {
			{"submit", "a", IsPublished, nil, "a/-"},
			{"submit", "b", IsPublished, nil, "b/-"},
			{"ask", "c", HasToWait, nil, "b/c:confirmation"},
			{"rollback", "", IsRolledBack, nil, "a/-"},
		},
		"a restart of an old instance undoes nothing": {
			{"submit", "a", IsPublished, nil, "a/-"},
			{"other", "a", Nothing, nil, "a/-"},
			{"other", "b", IsPublished, nil, "b/-"},
			{"submit", "a", Nothing, nil, "b/-"},
			{"submit", "b", Nothing, nil, "b/-"},
		},
	} {
		t.Run(name, func(t *testing.T) { play(t, acts) })
	}
}

// The history says what became of each change, who did it and why.
func TestHistory(t *testing.T) {
	s := play(t, []act{
		{"submit", "a", IsPublished, nil, "a/-"},
		{"ask", "b", HasToWait, nil, "a/b:confirmation"},
		{"confirm", "b", IsPublished, nil, "b/-"},
		{"hosts", "c", IsTried, nil, "b/c:hosts"},
		{"stop", "c", IsStopped, nil, "b/-"},
		{"rollback", "a", IsRolledBack, nil, "a/-"},
		{"ask", "d", HasToWait, nil, "a/d:confirmation"},
		{"submit", "e", IsPublished, nil, "e/-"},
	})
	var got []string
	for _, c := range s.History {
		got = append(got, fmt.Sprintf("%d %s<%s %s %s", c.Number, c.ID, c.Parent, c.Origin, c.End))
	}
	if all := strings.Join(got, ", "); all != strings.Join([]string{
		"4 a<b rollback superseded", "5 d<a configuration withdrawn", "2 b<a configuration rolled_back",
		"3 c<b configuration stopped", "1 a<" + IDOf(Empty) + " configuration superseded",
	}, ", ") {
		t.Errorf("got %s", all)
	}
	b := s.History[2]
	if by := b.Confirmed; by == nil || by.Who != "ann" || by.Why != "because" || by.Ticket != "T-1" || !by.At.Equal(epoch.Add(2*time.Hour)) {
		t.Errorf("confirmed by %+v", by)
	}
	if len(b.Reasons) != 1 || !b.Published.Equal(epoch.Add(2*time.Hour)) || !b.Ended.At.Equal(epoch.Add(5*time.Hour)) {
		t.Errorf("got %+v", b)
	}
	if specs := s.Specs(); !slices.Equal(specs, []string{"a", "b", "c", "d", "e"}) {
		t.Errorf("specs %v", specs)
	}
}

// The history is bounded by number and age, but what was published last stays.
func TestHistoryIsBounded(t *testing.T) {
	var s State
	for i := range mostChanges + 50 {
		s, _ = s.Submit(Submission{ID: fmt.Sprint(i), Instance: fmt.Sprint("host", i)}, epoch.Add(time.Duration(i)*time.Minute))
	}
	if len(s.History) != mostChanges || s.History[0].ID != fmt.Sprint(mostChanges+48) || s.Changes != mostChanges+50 {
		t.Errorf("%d changes of %d, the first %s", len(s.History), s.Changes, s.History[0].ID)
	}
	if len(s.Submitted) > mostInstances {
		t.Errorf("%d instances", len(s.Submitted))
	}
	late := epoch.Add(2 * keptFor)
	s, _ = s.Submit(Submission{ID: "late", Instance: "one"}, late)
	s, _ = s.Submit(Submission{ID: "later", Instance: "one", Reasons: make([]string, 100)}, late.Add(1))
	if len(s.History) != 1 || len(s.Submitted) != 1 || len(s.Candidate.Reasons) != MostLines || s.Candidate.Reasons[MostLines-1] != "and 81 more" {
		t.Errorf("%d changes, %d instances, %d reasons", len(s.History), len(s.Submitted), len(s.Candidate.Reasons))
	}
	if s, news, err := s.Rollback("", By{}, late.Add(2)); news != IsRolledBack || err != nil || s.Published.ID != fmt.Sprint(mostChanges+49) {
		t.Errorf("got %q, %v, %+v", news, err, s.Published)
	}
}

// TestNotedBesideTheFuture has as many instances as are noted of a clock that was ahead: who
// submits now is noted all the same, so that a rollback holds.
func TestNotedBesideTheFuture(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var all map[string]Submitted
	for i := range mostInstances {
		all = noted(all, fmt.Sprint("ahead ", i), Submitted{"x", now.AddDate(1, 0, 0)})
	}
	for _, instance := range []string{"one", "two"} {
		all = noted(all, instance, Submitted{"x", now})
	}
	if len(all) != mostInstances || all["one"].ID != "x" || all["two"].ID != "x" {
		t.Errorf("of %d, one is %+v and two %+v", len(all), all["one"], all["two"])
	}
}

// TestWithdrawnLists keeps few of the changes by lists of rules that came and went.
func TestWithdrawnLists(t *testing.T) {
	var s State
	for i := range 3 * mostWithdrawn {
		in := Submission{ID: fmt.Sprint("list ", i), Instance: "one", Origin: FromRules, Reasons: []string{"it has lost much"}}
		s, _ = s.Submit(in, epoch.Add(time.Duration(i)*time.Minute))
	}
	if len(s.History) != mostWithdrawn || s.History[0].ID != fmt.Sprint("list ", 3*mostWithdrawn-2) {
		t.Errorf("%d changes are kept, the first %s", len(s.History), s.History[0].ID)
	}
}
