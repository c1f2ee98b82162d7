package managed

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"sync"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Keeper knows which version of each base is under the rules of a robots_txt. A new
// one comes there once it was judged, so that it can wait for a person. A Keeper
// outlives a configuration, and a storage that fails. The zero Keeper has met no base.
type Keeper struct {
	mu      sync.Mutex
	known   map[policy.Key]*keptBase
	bytes   int                 // of the texts that are kept
	due     map[policy.Key]bool // those that have a version which nobody has judged
	waits   []BaseWaits
	learned bool           // it was known once which texts wait
	wakes   map[int]func() // that tell of something due
	woken   int            // how many of them there ever were
}

// keptBase is what is known of a base.
type keptBase struct {
	name   string            // another server can have one of the same name
	under  [sha256.Size]byte // the version under the rules
	kept   *policy.Version   // the same while another one is read, nil if there is no room
	judged string            // the ID of the version that has to wait, "" for none
	why    []string          // it has to, as far as this instance knows
}

// BaseWaits is a text that has to wait, as far as it is known to all instances, or that
// somebody has confirmed.
type BaseWaits struct {
	Number     int      // tells it from others
	ID, Before string   // those of the text and of the one in whose place it is
	Names      []string // of bases that have it
	Confirmed  bool
	// Kept is the version before, nil once it is confirmed or if it is lost.
	Kept *policy.Version
}

// Bounds of how many bases are known, and of the bytes of texts that are kept while
// another waits. Past these a text is there as long as the cache remembers it.
const (
	mostKnown = 50_000
	mostKept  = 64 << 20
)

// NameOfBase returns what people call a base: the site as https://example.com, or the
// path of a file.
func NameOfBase(key policy.Key) string {
	if key.Forwarded != "" {
		return key.String() + " for " + key.Forwarded
	}
	return key.String()
}

// IDOfBase returns the ID of a version by its hash: the first 16 hexadecimal digits.
func IDOfBase(hash [sha256.Size]byte) string { return hex.EncodeToString(hash[:8]) }

// Wake has wake called, which must not wait, whenever bases are due, until remove is.
func (k *Keeper) Wake(wake func()) (remove func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.wakes == nil {
		k.wakes = make(map[int]func())
	}
	k.woken++
	mine := k.woken
	if k.wakes[mine] = wake; len(k.due) > 0 {
		wake()
	}
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.wakes, mine)
	}
}

// under returns the version of a base that is under the rules, nil for none. A base
// that is met for the first time is, unless it is known that it waits.
func (k *Keeper) under(bases *policy.Cache, key policy.Key, state *policy.State) *policy.Version {
	if k == nil || goodOf(state) == nil {
		return goodOf(state)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if latest := stateOf(bases, key); goodOf(latest) != nil && latest.Good.LastRead.After(state.Good.LastRead) {
		state = latest // who asks late must not put the version before back
	}
	b := k.known[key]
	if b == nil {
		if b = k.meet(bases, key, state.Good); b == nil {
			return state.Good
		}
	}
	if b.under == state.Good.Hash {
		k.adopt(b, state.Good.Hash)
		return state.Good
	}
	id := IDOfBase(state.Good.Hash)
	w := k.waitsAt(b.name, IDOfBase(b.under), id)
	before := k.find(bases, b, state)
	if before == nil || w != nil && w.Confirmed {
		k.adopt(b, state.Good.Hash)
		return state.Good
	}
	if w != nil && b.judged != id {
		b.judged, b.why = id, nil
	} else if b.judged != id {
		k.isDue(key)
	}
	return before
}

// adopt puts a version under the rules.
func (k *Keeper) adopt(b *keptBase, hash [sha256.Size]byte) {
	k.keep(b, nil)
	b.under, b.judged, b.why = hash, "", nil
}

// keep keeps the text of a version, nil for none.
func (k *Keeper) keep(b *keptBase, v *policy.Version) {
	if b.kept != nil {
		k.bytes -= len(b.kept.Robots.Text())
	}
	if b.kept = v; v != nil {
		k.bytes += len(v.Robots.Text())
	}
}

// find returns the version of a base that is under the rules while another one is read,
// nil if it is lost.
func (k *Keeper) find(bases *policy.Cache, b *keptBase, state *policy.State) *policy.Version {
	if b.kept != nil {
		return b.kept
	}
	i := slices.IndexFunc(state.Past, func(v *policy.Version) bool { return v.Hash == b.under })
	if i < 0 {
		return nil
	}
	if size := len(state.Past[i].Robots.Text()); k.bytes+size > mostKept {
		for key, other := range k.known {
			if other.kept != nil && bases.Get(key) == nil {
				k.keep(other, nil)
			}
		}
	}
	if k.bytes+len(state.Past[i].Robots.Text()) <= mostKept {
		k.keep(b, state.Past[i])
	}
	return state.Past[i]
}

// meet takes in a base, nil if there are too many.
func (k *Keeper) meet(bases *policy.Cache, key policy.Key, good *policy.Version) *keptBase {
	if len(k.known) >= mostKnown {
		maps.DeleteFunc(k.known, func(key policy.Key, _ *keptBase) bool { return bases.Get(key) == nil })
	}
	if len(k.known) >= mostKnown {
		return nil
	}
	b := &keptBase{name: NameOfBase(key), under: good.Hash}
	for i := range k.waits {
		if w := &k.waits[i]; w.Kept != nil && slices.Contains(w.Names, b.name) {
			k.goBack(b, w)
		}
	}
	if b.kept == nil && k.bytes > 0 {
		k.followUp(b, good)
	}
	if k.known == nil {
		k.known = make(map[policy.Key]*keptBase)
	}
	k.known[key] = b
	return b
}

// followUp has a base wait that waits under another key: a configuration with one more
// server for a host changes the keys of all.
func (k *Keeper) followUp(b *keptBase, good *policy.Version) {
	for key, other := range k.known {
		if other.kept != nil && other.name == b.name && other.judged == IDOfBase(good.Hash) {
			*b = *other
			delete(k.known, key)
			return
		}
	}
}

// goBack puts the version under the rules in whose place another one waits.
func (k *Keeper) goBack(b *keptBase, w *BaseWaits) {
	k.adopt(b, w.Kept.Hash)
	k.keep(b, w.Kept)
}

// waitsAt returns what is known to all of a text at a base, in the place of another one.
func (k *Keeper) waitsAt(name, before, id string) *BaseWaits {
	for i := range k.waits {
		if w := &k.waits[i]; w.ID == id && (w.Before == before || slices.Contains(w.Names, name)) {
			return w
		}
	}
	return nil
}

func (k *Keeper) isDue(key policy.Key) {
	if k.due == nil {
		k.due = make(map[policy.Key]bool)
	}
	k.due[key] = true
	for _, wake := range k.wakes {
		wake()
	}
}

// peek is under, but remembers nothing.
func (k *Keeper) peek(key policy.Key, state *policy.State) *policy.Version {
	if state == nil || k == nil {
		return goodOf(state)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.known[key]
	if b == nil || state.Good == nil || b.under == state.Good.Hash {
		return state.Good
	}
	if b.kept != nil {
		return b.kept
	}
	if i := slices.IndexFunc(state.Past, func(v *policy.Version) bool { return v.Hash == b.under }); i >= 0 {
		return state.Past[i]
	}
	return state.Good
}

func goodOf(state *policy.State) *policy.Version {
	if state == nil {
		return nil
	}
	return state.Good
}
