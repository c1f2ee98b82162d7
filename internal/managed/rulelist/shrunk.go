package rulelist

import (
	"fmt"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
)

// In so much time users are told of so many other versions that have lost too much: a list
// that comes and goes must not have a change made each time.
const (
	offerTime  = 10 * time.Minute
	mostOffers = 3
)

// Wanted returns the version that should be in use, nil for none, and why a person has
// to confirm it, "" if none has to.
func (l *List) Wanted() (v *Version, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.proposed != nil {
		return l.proposed, l.loss()
	}
	return l.good, ""
}

// Accept says that a version is published which had to be confirmed.
func (l *List) Accept(v *Version) {
	l.mu.Lock()
	if v == nil || !v.equal(l.proposed) {
		l.mu.Unlock()
		return
	}
	l.good, l.proposed = l.proposed, nil
	if v.equal(l.waiting) {
		l.waiting, l.wrong = nil, trouble{}
	}
	l.tell(false, true)
}

// propose begins to offer what waits, and reports whether that is news. l.mu must be
// held.
func (l *List) propose() bool {
	if l.waiting == nil || l.waiting == l.proposed {
		return false
	}
	if l.now().Sub(l.offered) >= offerTime {
		l.offered, l.offers = l.now(), 0
	}
	if l.offers == mostOffers {
		return false
	}
	l.proposed = l.waiting
	l.offers++
	return true
}

// loss says what the version that waits has lost. l.mu must be held.
func (l *List) loss() string {
	return fmt.Sprintf("%s: it has lost more than half of its %d rules", l.source.Name(), len(l.good.Rules))
}

// losesMuch reports whether another version lacks more than half of the rules that
// are in force or will be. Two of the same name are the same rule.
func (v *Version) losesMuch(next *Version, now time.Time) bool {
	if v == nil {
		return false
	}
	has := make(map[string]bool, len(next.Rules))
	for i := range next.Rules {
		has[next.Rules[i].ID] = true
	}
	all, lost := 0, 0
	for i := range v.Rules {
		r := &v.Rules[i]
		window, err := managed.ParseWindow(r.From, r.Until)
		if err != nil || !window.Until.IsZero() && !window.Until.After(now) {
			continue // to remove it is tidy
		}
		all++
		if !has[r.ID] {
			lost++
		}
	}
	return 2*lost > all
}
