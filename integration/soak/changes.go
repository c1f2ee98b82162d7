package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// patience is how long a change may take to be known everywhere. The base of a
// managed text is read once a minute.
const patience = 3 * time.Minute

// eventually waits until something is so. What it returns else is told if it
// never is.
func eventually(what string, so func() error) error {
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err = so(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// reloads reloads an instance every now and then.
func (w *world) reloads(ctx context.Context, in *instance, every time.Duration, r *result) error {
	for rest(ctx, every) {
		if err := in.reload(); err != nil {
			return err
		}
		atomic.AddInt64(&r.reloads, 1)
	}
	return nil
}

// changes goes through the states of a site's origin, and publishes another
// robots.txt when it is well.
func (w *world) changes(ctx context.Context, s *site, t *traffic, r *result) error {
	if s.every == 0 {
		return nil
	}
	for round := 0; rest(ctx, s.every); round++ {
		var err error
		next := s.text.last() + 1
		s.text.change(next, func() { err = w.publish(s, next, t) })
		if err != nil {
			return err
		}
		atomic.AddInt64(&r.texts, 1)
		if len(s.fails) == 0 || !rest(ctx, s.every) {
			continue
		}
		failing := s.fails[round%len(s.fails)]
		s.state.change(failing, func() {
			if failing == refuses {
				s.origin.close()
			}
		})
		rest(ctx, 6*time.Second)
		s.state.change(well, func() {
			if failing == refuses {
				if err = s.origin.listen(); err != nil {
					return
				}
			}
			for _, in := range w.instances {
				err = errors.Join(err, t.until(in, s, "Firefox", "/page", http.StatusOK))
			}
		})
		if err != nil {
			return err
		}
		atomic.AddInt64(&r.outages, 1)
	}
	return nil
}

// until asks until the answer is as wanted.
func (t *traffic) until(in *instance, s *site, client, path string, want int) error {
	return eventually(fmt.Sprintf("%s: %s%s as %s", in.name, s.host, path, client), func() error {
		if got := t.probe(in, s, named(client), path); got.status != want {
			return fmt.Errorf("answered %d, not %d", got.status, want)
		}
		return nil
	})
}

// publish puts a robots.txt where the site has it and waits until all instances
// judge by it.
func (w *world) publish(s *site, next text, t *traffic) error {
	if s.publish != nil {
		if err := s.publish(next); err != nil {
			return err
		}
	}
	for _, in := range w.instances {
		if err := w.judgesBy(in, s, next, t); err != nil {
			return err
		}
	}
	return nil
}

// judgesBy waits until an instance judges by a text.
func (w *world) judgesBy(in *instance, s *site, want text, t *traffic) error {
	tries := 0
	return eventually(fmt.Sprintf("%s judges %s by version %d", in.name, s.host, int(want)), func() error {
		if tries++; tries%20 == 1 { // an attempt may be far off after a failure
			if err := in.refresh(s); err != nil {
				return err
			}
		}
		t.probe(in, s, named("bingbot"), "/page") // for it is read when a crawler comes
		expected := want.String()
		if s.managed {
			got := t.probe(in, s, named("curl"), "/robots.txt")
			if expected = got.body; !strings.Contains(expected, fmt.Sprintf("# version %d\n", int(want))) {
				return errors.New("it serves another")
			}
		}
		known, err := in.version(s)
		if err == nil && known != hash(expected) {
			err = fmt.Errorf("%q is in force", known)
		}
		return err
	})
}

// knows waits until an instance that was just started judges as the others do.
func (w *world) knows(in *instance, t *traffic) error {
	for _, s := range w.sites {
		if s.invented {
			continue
		}
		if err := eventually(in.name+" comes to know "+s.host, func() error {
			t.probe(in, s, named("bingbot"), "/page")
			known, err := in.version(s)
			switch {
			case err != nil:
				return err
			case s.managed && known == "", !s.managed && known != hash(s.text.last().String()):
				return fmt.Errorf("%q is in force", known)
			}
			return nil
		}); err != nil {
			return err
		}
		if s.managed {
			if err := w.judgesBy(in, s, s.text.last(), t); err != nil {
				return err
			}
		}
		if s.strict {
			for range 2 { // of which it grants one
				t.ask(in, s, named("SemrushBot"), "/page", 1, true)
			}
		}
	}
	return nil
}

// renames writes another edition of the registry file every now and then.
func (w *world) renames(ctx context.Context, every time.Duration, t *traffic, r *result) error {
	s := w.sites[0]
	for rest(ctx, every) {
		next := w.names.last() + 1
		err := w.name(next)
		w.names.change(next, func() {
			for _, in := range w.instances {
				err = errors.Join(err, eventually(in.name+" takes the registry", func() error {
					if got := t.probe(in, s, named("Quuxle"), "/page"); got.class != next.class() {
						return fmt.Errorf("its class is %q", got.class)
					}
					return nil
				}))
			}
		})
		if err != nil {
			return err
		}
		r.editions++
	}
	return nil
}

// kills ends an instance every now and then in the midst of all, and starts it
// again. What it has counted is compared just before, while nobody asks.
func (w *world) kills(ctx context.Context, in *instance, every time.Duration, t *traffic, r *result) error {
	for rest(ctx, every) {
		in.gate.Lock()
		problems, counted, err := t.compare(in)
		in.gate.Unlock()
		if err != nil {
			return err
		}
		r.compared(problems, counted)
		rest(ctx, time.Second)
		in.loading.Lock()
		in.kill()
		in.gate.Lock()
		t.forget(in)
		in.fresh.change(true, func() {})
		err = in.start()
		in.gate.Unlock()
		in.loading.Unlock()
		if err != nil {
			return err
		}
		in.fresh.change(false, func() { err = w.knows(in, t) })
		if err != nil {
			return err
		}
		r.kills++
	}
	return nil
}
