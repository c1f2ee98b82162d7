package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/publication"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// baseSpec is a base as it is stored while it stays in the place of another one.
type baseSpec struct {
	Base   []byte `json:"base"`
	Hash   string `json:"hash"`
	Status int    `json:"status,omitempty"`
}

func specOf(v *policy.Version) []byte {
	data, err := json.Marshal(baseSpec{[]byte(v.Robots.Text()), hex.EncodeToString(v.Hash[:]), v.Status})
	if err != nil {
		panic(err) // bytes and numbers
	}
	return data
}

func versionOf(spec []byte) (*policy.Version, error) {
	var b baseSpec
	err := json.Unmarshal(spec, &b)
	hash, wrong := hex.DecodeString(b.Hash)
	if err = errors.Join(err, wrong); err == nil && len(hash) != sha256.Size {
		err = errors.New("its hash is too short")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: a base: %w", publication.ErrDamaged, err)
	}
	return &policy.Version{Hash: [sha256.Size]byte(hash), Robots: policy.Parse(b.Base), Status: b.Status}, nil
}

// Keeper returns what knows which base is under the rules, nil before Begin.
func (r *Release) Keeper() *managed.Keeper {
	if !r.begun.Load() {
		return nil
	}
	return r.keeper
}

// judgeBases judges what was read of bases, until ctx ends. It is not done by run, so
// that it never waits for a storage.
func (r *Release) judgeBases(ctx context.Context) {
	due := make(chan struct{}, 1)
	defer r.keeper.Wake(func() {
		select {
		case due <- struct{}{}:
		default:
		}
	})()
	for r.awaitRunning(ctx) {
		select {
		case <-ctx.Done():
			return
		case <-due:
		}
		if r.publisher.Serving() == nil {
			continue // there is nothing to compare; who asks next says so again
		}
		for _, o := range r.keeper.Due(r.publisher.Bases) {
			r.judgeBase(o)
		}
	}
}

// judgeBase lets a base go under the rules unless it has to wait, and returns why that is.
func (r *Release) judgeBase(o managed.OtherBase) (why []string) {
	why = r.baseReasons(o)
	if r.keeper.Judge(o, why); len(why) > 0 {
		r.poke()
	} else {
		r.publisher.Ready(o.Key, o.After)
	}
	return why
}

// baseReasons returns why a base has to be confirmed, none if it does not.
func (r *Release) baseReasons(o managed.OtherBase) []string {
	if r.Confirm == Off {
		return nil
	}
	f, hosts := r.newFinder(false)
	left := r.publisher.EachPairOf(o, hosts, mostCompared, f.search(r.Confirm))
	return f.found(left)
}

// learnBases tells the keeper which bases wait as the history has it. A text that is
// lost is an error, and the others count.
func (r *Release) learnBases(ctx context.Context, state *publication.State) (lost, err error) {
	if r.Confirm == Off {
		r.keeper.Follow(r.publisher.Bases)
		return nil, nil
	}
	var all []managed.BaseWaits
	for i := range state.Bases {
		b := &state.Bases[i]
		if b.IsOver(r.Now()) {
			continue
		}
		w := managed.BaseWaits{Number: b.Number, ID: b.ID, Before: b.Parent, Names: b.Sites, Confirmed: !b.Keeps()}
		if b.Keeps() {
			if w.Kept = r.keeper.Kept(b.Number); w.Kept == nil {
				w.Kept, err = r.keptBase(ctx, b.Kept)
			}
			if isLost(err) {
				lost, err = err, nil
			} else if err != nil {
				return nil, err
			}
		}
		all = append(all, w)
	}
	r.keeper.Learn(all)
	return lost, nil
}

// keptBase returns a base that is stored.
func (r *Release) keptBase(ctx context.Context, id string) (*policy.Version, error) {
	spec, err := r.store.Spec(ctx, id)
	if err != nil {
		return nil, err
	}
	return versionOf(spec)
}

// isLost reports whether what is stored will never be read.
func isLost(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, publication.ErrDamaged)
}

// noteBases notes in the history which bases wait, and which do no more. They wait here
// whether that can be stored or not.
func (r *Release) noteBases(ctx context.Context) error {
	waiting, settled := r.keeper.Waiting(r.publisher.Bases)
	for len(waiting) > 0 {
		var same []managed.OtherBase
		first := waiting[0]
		waiting = slices.DeleteFunc(waiting, func(o managed.OtherBase) bool {
			is := o.Before.Hash == first.Before.Hash && o.After.Hash == first.After.Hash
			if is {
				same = append(same, o)
			}
			return is
		})
		if err := r.hold(ctx, same); err != nil {
			return err
		}
	}
	state, _ := r.site.State()
	for i := range state.Bases {
		if err := r.settle(ctx, &state.Bases[i], settled); err != nil {
			return err
		}
	}
	return nil
}

// hold notes that a text has to wait at some bases.
func (r *Release) hold(ctx context.Context, same []managed.OtherBase) error {
	state, _ := r.site.State()
	in := changeOf(same)
	after, news := state.Hold(in, r.Now())
	if news == publication.Nothing && sitesOf(&after) == sitesOf(&state) {
		return nil
	}
	var wait []managed.OtherBase
	for _, o := range same {
		if state.KeepsAt(o.Name, in.ID) {
			continue // in the place of whatever text there
		}
		if len(o.Why) == 0 { // another instance has said so, of another site or no more
			if state.HasLeft(in.ID, o.After.LastRead, r.Now()) {
				continue // till it is read here whether the site has it still
			}
			o.Why = r.judgeBase(o)
		}
		if len(o.Why) > 0 {
			wait = append(wait, o)
		}
	}
	if len(wait) == 0 {
		return nil
	}
	in = changeOf(wait)
	spec := specOf(same[0].Before)
	in.Kept, in.Difference = publication.IDOf(spec), same[0].Difference()
	_, err := r.update(ctx, spec, func(s publication.State) (publication.State, publication.News, error) {
		s, news := s.Hold(in, r.Now())
		return s, news, nil
	})
	return err
}

// changeOf returns what is noted of a text at some bases.
func changeOf(same []managed.OtherBase) publication.BaseChange {
	in := publication.BaseChange{Invented: true, Change: publication.Change{ID: managed.IDOfBase(same[0].After.Hash), Parent: managed.IDOfBase(same[0].Before.Hash)}}
	for _, o := range same {
		in.Sites = append(in.Sites, o.Name)
		in.Invented = in.Invented && o.Key.Segment() == policy.Invented
		for _, reason := range o.Why {
			if !slices.Contains(in.Reasons, reason) {
				in.Reasons = append(in.Reasons, reason)
			}
		}
	}
	return in
}

// settle notes at which sites a base does not wait any more: those that have another one
// by now, and those of which it is not the base.
func (r *Release) settle(ctx context.Context, b *publication.BaseChange, settled map[string]*policy.Version) error {
	var over []string
	for _, site := range b.Sites {
		v := settled[site]
		isOther := v != nil && b.IsOlder(v.LastRead, r.Now()) && managed.IDOfBase(v.Hash) != b.ID
		if b.Keeps() && (isOther || r.Confirm == Off || !r.isBase(site)) {
			over = append(over, site)
		}
	}
	state, _ := r.site.State()
	if after, _ := state.Settle(b.Number, over, r.Now()); len(over) == 0 || sitesOf(&after) == sitesOf(&state) {
		return nil
	}
	_, err := r.update(ctx, nil, func(s publication.State) (publication.State, publication.News, error) {
		s, news := s.Settle(b.Number, over, r.Now())
		return s, news, nil
	})
	return err
}

// isBase reports whether a base can be one of this configuration.
func (r *Release) isBase(name string) bool {
	switch key := r.publisher.SourceKey; {
	case r.publisher.Bases == nil:
		return false
	case key != "":
		return name == key
	}
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// sitesOf returns of how many sites a text waits or was confirmed.
func sitesOf(s *publication.State) (n int) {
	for i := range s.Bases {
		n += len(s.Bases[i].Sites)
	}
	return n
}
