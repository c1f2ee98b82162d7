package managed

import (
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Kept returns the text in whose place another waits, by its number, nil if it is not
// known here.
func (k *Keeper) Kept(number int) *policy.Version {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.IndexFunc(k.waits, func(w BaseWaits) bool { return w.Number == number }); i >= 0 {
		return k.waits[i].Kept
	}
	return nil
}

// Learn takes in which texts wait, and which were confirmed, as all instances know it. What
// came under the rules before that was known for the first time may be a text that has waited,
// too, in the place of which another one waits by now: it is judged, then.
func (k *Keeper) Learn(waits []BaseWaits) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range waits {
		w := &waits[i]
		var told []string // the names of bases at which it was known to wait
		if at := slices.IndexFunc(k.waits, func(o BaseWaits) bool { return o.Number == w.Number }); at >= 0 {
			told = k.waits[at].Names
		}
		if w.Kept == nil || slices.Equal(told, w.Names) {
			continue
		}
		for _, b := range k.known { // where it came under the rules before that was known
			isNews := slices.Contains(w.Names, b.name) && !slices.Contains(told, b.name)
			if isNews && (IDOfBase(b.under) == w.ID || !k.learned) {
				k.goBack(b, w)
			}
		}
	}
	k.waits, k.learned = waits, true
}

// OtherBase is a base with the version under the rules, and another one that is read.
type OtherBase struct {
	Name          string
	Key           policy.Key
	Before, After *policy.Version
	Why           []string // it has to wait, none if that is not known
}

// Difference returns which lines are new, and which are gone.
func (o OtherBase) Difference() (lines []string) {
	before, after := linesIn(o.Before.Robots.Text()), linesIn(o.After.Robots.Text())
	for _, line := range less(before, after) {
		lines = append(lines, "- "+line)
	}
	for _, line := range less(after, before) {
		lines = append(lines, "+ "+line)
	}
	return lines
}

// Due returns the bases with a version that nobody has judged.
func (k *Keeper) Due(bases *policy.Cache) (due []OtherBase) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key := range k.due {
		if o, judged, ok := k.other(bases, key); ok && !judged {
			due = append(due, o)
		}
	}
	clear(k.due)
	return due
}

// other returns a base that has another version than the one under the rules, and
// whether that was judged.
func (k *Keeper) other(bases *policy.Cache, key policy.Key) (o OtherBase, judged, ok bool) {
	b := k.known[key]
	if b == nil {
		return o, false, false
	}
	state := stateOf(bases, key)
	if goodOf(state) == nil || state.Good.Hash == b.under {
		return o, false, false
	}
	before := k.find(bases, b, state)
	if before == nil {
		return o, false, false
	}
	return OtherBase{b.name, key, before, state.Good, b.why}, b.judged == IDOfBase(state.Good.Hash), true
}

// Judge says why a version that was due has to wait. Without a why it is under the rules
// from now on.
func (k *Keeper) Judge(o OtherBase, why []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.known[o.Key]
	switch {
	case b == nil || b.under != o.Before.Hash: // it was confirmed meanwhile, or another one was
	case len(why) > 0:
		b.judged, b.why = IDOfBase(o.After.Hash), why
	default:
		k.adopt(b, o.After.Hash)
	}
}

// Renewed returns the bases that have had another version after a time before the one that is
// under the rules, but for those that a person has confirmed.
func (k *Keeper) Renewed(bases *policy.Cache, after time.Time) (renewed []OtherBase) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, b := range k.known {
		state := stateOf(bases, key)
		if goodOf(state) == nil || state.Good.Hash != b.under || len(state.Past) == 0 || state.Past[0].Until.Before(after) {
			continue
		}
		before := state.Past[0]
		if w := k.waitsAt(b.name, IDOfBase(before.Hash), IDOfBase(b.under)); w == nil {
			renewed = append(renewed, OtherBase{Name: b.name, Key: key, Before: before, After: state.Good})
		}
	}
	return renewed
}

// GoBack puts the version before of a base under the rules once more, and says why the other
// has to wait.
func (k *Keeper) GoBack(o OtherBase, why []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if b := k.known[o.Key]; b != nil && b.under == o.After.Hash {
		k.adopt(b, o.Before.Hash)
		k.keep(b, o.Before)
		b.judged, b.why = IDOfBase(o.After.Hash), why
	}
}

// Waiting returns the bases whose version has to wait, and of the others the version
// under the rules.
func (k *Keeper) Waiting(bases *policy.Cache) (waiting []OtherBase, settled map[string]*policy.Version) {
	k.mu.Lock()
	defer k.mu.Unlock()
	settled = make(map[string]*policy.Version)
	for key, b := range k.known {
		if o, judged, ok := k.other(bases, key); ok && judged {
			waiting = append(waiting, o)
		} else if good := goodOf(stateOf(bases, key)); good != nil && good.Hash == b.under {
			settled[b.name] = good
		}
	}
	for _, o := range waiting {
		delete(settled, o.Name) // of another server
	}
	slices.SortFunc(waiting, func(a, b OtherBase) int { return strings.Compare(a.Name, b.Name) })
	return waiting, settled
}

// Follow puts what was read under the rules, whatever waits.
func (k *Keeper) Follow(bases *policy.Cache) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waits, k.learned = nil, true
	for key := range k.known {
		if o, _, ok := k.other(bases, key); ok {
			k.adopt(k.known[key], o.After.Hash)
		}
	}
}

// stateOf returns what is known of a base now, nil for nothing. bases may be nil.
func stateOf(bases *policy.Cache, key policy.Key) *policy.State {
	if bases == nil {
		return nil
	}
	if e := bases.Get(key); e != nil {
		return e.State()
	}
	return nil
}
