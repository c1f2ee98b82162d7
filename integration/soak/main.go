// Command soak runs three instances of the built server on one storage under mixed
// traffic for a long time, by HTTP/1.1, 2 and 3, while configurations are reloaded,
// robots.txt files and names of crawlers change, origins fail and return, and one
// instance is killed and started again. It knows what each request should be
// answered with, counts what it sends, and watches what the servers use. It fails
// if an answer, a counter or a leak is wrong. It needs the Go toolchain and no
// network.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// inventedHost ends the names of hosts that clients make up.
const inventedHost = "invented.test"

// deciderHost is where another proxy asks.
const deciderHost = "decide.test"

func main() {
	length := flag.Duration("for", time.Hour, "how long")
	rate := flag.Float64("rate", 100, "requests a second")
	write := flag.Bool("write", false, "write the result to docs/proof.md; run it at the top of the repository")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := soak(ctx, *length, *rate)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	fmt.Print(r)
	if *write {
		if err := r.write("docs"); err != nil {
			fmt.Fprintln(os.Stderr, "soak:", err)
			os.Exit(1)
		}
	}
	if len(r.problems) > 0 {
		os.Exit(1)
	}
}

// soak runs everything and returns what came of it. An error means that it could
// not be run.
func soak(ctx context.Context, length time.Duration, rate float64) (*result, error) {
	folder, err := os.MkdirTemp("", "robots-guard-soak")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	beat := beatFor(length)
	w, err := newWorld(folder, beat)
	if err != nil {
		return nil, err
	}
	replace := []string{"$FILES", filepath.Join(folder, "site"), "$REGISTRY", w.registry, "$RANGES", w.ranges}
	for _, s := range w.sites {
		if s.origin != nil {
			defer s.origin.close()
			replace = append(replace, "$"+strings.ToUpper(strings.TrimSuffix(s.host, ".test")), s.origin.address)
		}
	}
	w.instances, err = startInstances(folder, 3, replace...)
	for _, in := range w.instances {
		defer in.stop()
	}
	if err != nil {
		return nil, err
	}
	t := newTraffic(w)
	idle, err := w.warm(t)
	if err != nil {
		log, _ := w.instances[0].logged("")
		return nil, fmt.Errorf("%w\n%s", err, log)
	}

	begun := time.Now()
	running, end := context.WithTimeout(ctx, length)
	defer end()
	last := len(w.instances) - 1
	r := &result{rate: rate, samples: make([][]sample, last), heaps: make([]heaps, last)}
	var group sync.WaitGroup
	var failures sync.Map
	do := func(what string, f func() error) {
		group.Go(func() {
			if err := f(); err != nil {
				failures.Store(what, err)
				end()
			}
		})
	}
	do("traffic", func() error { t.run(running, rate); return nil })
	for i, in := range w.instances {
		do("reloads of "+in.name, func() error { return w.reloads(running, in, beat.loads, r) })
		if i == last {
			do("kills", func() error { return w.kills(running, in, beat.kills, t, r) })
			continue
		}
		do("samples of "+in.name, func() (err error) {
			r.samples[i], err = watch(running, in, begun, beat.samples, length/4, &r.heaps[i])
			return err
		})
	}
	for _, s := range w.sites {
		do("changes at "+s.host, func() error { return w.changes(running, s, t, r) })
	}
	do("registry", func() error { return w.renames(running, beat.names, t, r) })
	group.Wait()
	r.took = time.Since(begun)
	failures.Range(func(what, err any) bool {
		r.problems = append(r.problems, fmt.Sprintf("%s: %v", what, err))
		return true
	})
	if ctx.Err() != nil {
		return nil, errors.New("interrupted")
	}
	return r, w.judge(t, r, idle, length)
}

// warm makes sure that all instances know all sites, and returns what they use
// then.
func (w *world) warm(t *traffic) (idle []sample, err error) {
	for _, in := range w.instances {
		if err := w.knows(in, t); err != nil {
			return nil, err
		}
		for range 3 { // what the first reloads leave behind is no leak
			if err := in.reload(); err != nil {
				return nil, err
			}
		}
	}
	time.Sleep(2 * time.Second)
	for _, in := range w.instances {
		one, err := take(in, time.Now())
		if err != nil {
			return nil, err
		}
		idle = append(idle, one)
	}
	return idle, nil
}

// judge looks at the instances when all is over.
func (w *world) judge(t *traffic, r *result, idle []sample, length time.Duration) error {
	for i, in := range w.instances {
		problems, counted, err := t.compare(in)
		if err != nil {
			return err
		}
		r.compared(problems, counted)
		if length >= 5*time.Minute && i < len(r.samples) { // less says nothing about what grows
			if problems := grown(in.name, r.samples[i]); len(problems) > 0 {
				r.problems = append(r.problems, problems...)
				if err := r.heaps[i].keep(in, length); err != nil {
					return err
				}
			}
		}
		_, calls := in.life()
		calls.close()
		if err := settle(in, idle[i]); err != nil {
			r.problems = append(r.problems, err.Error())
		}
		if log, found := in.logged("will retry"); found { // what follows is the error
			r.problems = append(r.problems, in.name+" had no certificate at first:\n"+log)
		}
		if log, found := in.logged("panic"); found {
			r.problems = append(r.problems, "there was a panic:\n"+log)
		}
	}
	r.finish(t)
	return nil
}
