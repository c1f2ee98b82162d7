package main

import (
	"context"
	"errors"
	"sync"
	"time"
)

// people are how many ask each instance for pages of a site that is slow, one after the
// other: enough to tell by, and too few to be what makes it slow.
const people = 12

// burdens makes sites slow every now and then, until all instances take them to be under
// load, for some time, and then until none does.
func (w *world) burdens(ctx context.Context, calm time.Duration, t *traffic, r *result) error {
	for rest(ctx, calm) {
		for _, s := range w.sites {
			if !s.sheds {
				continue
			}
			var err error
			over := w.crowd(s, t)
			s.load.change(true, func() {
				s.state.change(slow, func() {})
				err = w.areUnder(s)
			})
			for _, in := range w.instances {
				for _, p := range protocols {
					t.ask(in, s, named("ClaudeBot"), "/page", p, true)
					t.ask(in, s, named("bingbot"), "/page", p, true)
				}
			}
			rest(ctx, 20*time.Second)
			s.load.change(false, func() {
				s.state.change(well, func() {})
				over()
				err = errors.Join(err, w.areUnder(s))
			})
			if err != nil {
				return err
			}
			r.burdens++
		}
	}
	return nil
}

// crowd has people ask all instances for pages of a site until over is called.
func (w *world) crowd(s *site, t *traffic) (over func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for _, in := range w.instances {
		for i := range people {
			group.Go(func() {
				for rest(ctx, 50*time.Millisecond) { // it may be away
					t.ask(in, s, named("Firefox"), "/page", protocols[i%len(protocols)], true)
				}
			})
		}
	}
	return func() {
		cancel()
		group.Wait()
	}
}

// areUnder waits until all instances know whether a site is under load.
func (w *world) areUnder(s *site) (err error) {
	for _, in := range w.instances {
		err = errors.Join(err, s.isUnder(in))
	}
	return err
}

// isUnder waits until an instance knows whether a site is under load.
func (s *site) isUnder(in *instance) error {
	return eventually(in.name+" knows whether "+s.host+" is under load", func() error {
		in.loading.Lock() // meanwhile its metrics are away
		all, err := in.metrics()
		in.loading.Unlock()
		if under := all[`caddy_robots_guard_shedding{host="`+s.host+`"}`] > 0; err == nil && under != s.load.last() {
			err = errors.New("it is wrong")
		}
		return err
	})
}
