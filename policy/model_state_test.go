package policy

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// question is a query of a state at a time.
type question struct {
	now   time.Time
	grace time.Duration
}

// fold returns the state after all responses.
func (h history) fold(f FreshnessPolicy) (s State) {
	for _, e := range h {
		s = s.AfterFetch(e.answer, e.at, f, e.jitter)
	}
	return s
}

// divergence describes the difference between a state and the model, or returns "".
func (h history) divergence(s State, q question, f FreshnessPolicy) string {
	if len(h) == 0 {
		return ""
	}
	settled, failing := h.split()
	runs, past := h.runs(), h.past()
	if known := s.Current != nil; known != (len(settled) > 0) {
		return fmt.Sprintf("a copy is known: %t", known)
	}
	if s.Current != nil {
		if m := versionIs(s.Current, runs[len(runs)-1]); m != "" {
			return "current: " + m
		}
	}
	if len(s.Previous) != len(past) {
		return fmt.Sprintf("%d versions before, want %d", len(s.Previous), len(past))
	}
	for i := range past {
		if m := versionIs(s.Previous[i], past[i]); m != "" {
			return fmt.Sprintf("%d versions ago: %s", i+1, m)
		}
	}
	if s.FailureCount != len(failing) {
		return fmt.Sprintf("%d failures, want %d", s.FailureCount, len(failing))
	}
	if len(failing) > 0 && !s.FailingSince.Equal(failing[0].at) {
		return fmt.Sprintf("failing since %v", s.FailingSince)
	}
	if from, to := h.due(f); s.NextFetch.Before(from) || s.NextFetch.After(to) {
		return fmt.Sprintf("due at %v, want %v to %v", s.NextFetch.Sub(epoch), from.Sub(epoch), to.Sub(epoch))
	}
	for _, choice := range []Fallback{LastGood, AllowAll, DisallowAll, DisallowLikeGoogle} {
		text, known, disallowAll := h.usable(q.now, choice)
		robots, gotClosed := s.EffectiveRules(q.now, choice)
		if (robots != nil) != known || gotClosed != disallowAll {
			return fmt.Sprintf("fallback %d at %v: known %t, closed %t; want %t, %t", choice, q.now.Sub(epoch), robots != nil, gotClosed, known, disallowAll)
		}
		if known && !says(robots, text) {
			return fmt.Sprintf("fallback %d at %v: judged by another text", choice, q.now.Sub(epoch))
		}
	}
	if want := len(settled) > 0 && len(failing) == 0 && q.now.Sub(settled[len(settled)-1].at) >= 24*time.Hour; s.IsExpired(q.now) != want {
		return fmt.Sprintf("expired at %v: %t", q.now.Sub(epoch), !want)
	}
	var held []string
	for _, v := range s.VersionsInGrace(q.now, q.grace) {
		held = append(held, string(v.Robots.text))
	}
	if want := h.held(q.now, q.grace); !slices.Equal(held, want) {
		return fmt.Sprintf("held at %v, grace %v: %q, want %q", q.now.Sub(epoch), q.grace, held, want)
	}
	return ""
}

func versionIs(v *Version, want run) string {
	switch {
	case v.Hash != sha256.Sum256([]byte(want.text)) || !says(v.Robots, want.text):
		return fmt.Sprintf("another text than %q", want.text)
	case v.Status != want.status || v.ETag != want.etag:
		return fmt.Sprintf("status %d, ETag %q; want %d, %q", v.Status, v.ETag, want.status, want.etag)
	case !v.FirstFetched.Equal(want.first) || !v.LastFetched.Equal(want.last) || !v.ReplacedAt.Equal(want.until):
		return fmt.Sprintf("read from %v to %v, replaced at %v", v.FirstFetched.Sub(epoch), v.LastFetched.Sub(epoch), v.ReplacedAt.Sub(epoch))
	}
	return ""
}

// says reports whether robots has the verdicts of a text of the model.
func says(robots *Robots, text string) bool {
	_, path, forbids := strings.Cut(strings.TrimSpace(text), "Disallow: ")
	if !forbids {
		path = "/"
	}
	group := robots.Select(true, "FooBot")
	return group.Judge(path).Allowed != forbids && group.Judge("/none").Allowed
}

// smaller removes the events that a divergence does not need.
func (h history) smaller(q question, f FreshnessPolicy) history {
	for i := 0; i < len(h); {
		without := slices.Delete(slices.Clone(h), i, i+1)
		if without.divergence(without.fold(f), q, f) != "" {
			h, i = without, 0
		} else {
			i++
		}
	}
	return h
}

// TestStateAgainstModel applies random sequences of responses and times, and compares the state at
// random times with the model.
func TestStateAgainstModel(t *testing.T) {
	sequences, most := 80, 60
	if os.Getenv("LONG_TESTS") != "" && !raceEnabled {
		sequences = 3000
	}
	f := FreshnessPolicy{Default: 10 * time.Minute, Min: time.Minute, Max: 36 * time.Hour}
	steps, asked := 0, 0
	for seed := range uint64(sequences) {
		d := newDice(seed)
		d.texts = 1 + d.IntN(12)
		var h history
		var s State
		now := epoch
		for range most {
			now = now.Add(max(0, d.step()))
			e := d.event(now)
			h = append(h, e)
			s = s.AfterFetch(e.answer, e.at, f, e.jitter)
			steps++
			for range 3 {
				q := d.question(now)
				asked++
				if h.divergence(s, q, f) == "" {
					continue
				}
				small := h.smaller(q, f)
				for _, e := range small {
					t.Log(e)
				}
				t.Fatalf("seed %d: %s", seed, small.divergence(small.fold(f), q, f))
			}
		}
	}
	t.Logf("%d sequences, %d steps, %d questions", sequences, steps, asked)
}
