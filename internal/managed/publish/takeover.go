package publish

import (
	"context"
	"errors"
)

// takeOver tells the guards what is known from the configuration before of the change that
// is tried: the storage may not answer for long, and what a trial has found is forgotten
// once nobody tries it.
func (r *Release) takeOver() {
	state, known := r.site.History()
	if !known {
		return
	}
	atHand, cancel := context.WithCancel(context.Background())
	cancel() // so that nothing is read
	w, _ := r.wanted()
	r.applying.Lock()
	defer r.applying.Unlock()
	if c := state.Pending; c.IsTried() {
		published, err := r.schedule(atHand, state.PublishedID(), w)
		tried, lost := r.schedule(atHand, c.ID, w)
		if errors.Join(err, lost) == nil {
			r.judge(c, published, tried)
			r.judged = c.Number
		}
	}
}

// changed tells the guards that another text is served.
func (r *Release) changed() {
	if r.Trials != nil {
		r.Trials.Changed(r.place.has())
	}
}
