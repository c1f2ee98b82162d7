// Command soak runs the built server under mixed traffic for a long time. It fails if
// the heap, the goroutines or the open files of the server grow, once there were at
// least 200,000 requests. Clients use new hosts, names and addresses all the time.
// Requests use HTTP/1.1, 2 and 3. Meanwhile robots.txt files and the registry change,
// origins fail, and the configuration is reloaded. The command needs the Go toolchain
// and no network.
//
// It checks only that no browser and no request for robots.txt is blocked. The
// simulation in integration/simulate checks each verdict and each counter.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"
)

func main() {
	length := flag.Duration("for", time.Hour, "how long")
	rate := flag.Float64("rate", 100, "requests a second")
	write := flag.Bool("write", false, "write the result to docs/proof.md; run it at the top of the repository")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := soak(ctx, *length, *rate)
	if err == nil {
		fmt.Print(r)
		if *write {
			err = r.write("docs/proof.md")
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	if len(r.problems) > 0 {
		os.Exit(1)
	}
}

// soak runs the server for length and returns the result. It returns an error if the
// server could not run to the end.
func soak(ctx context.Context, length time.Duration, rate float64) (*result, error) {
	folder, err := os.MkdirTemp("", "robots-guard-soak")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	o := startOrigin()
	defer o.close()
	s, err := startServer(folder, o)
	if err != nil {
		return nil, err
	}
	defer s.stop()

	t := newTraffic(s)
	t.run(ctx, 3*time.Second, rate) // certificates and first fetches
	t.hangUp()
	time.Sleep(2 * time.Second)
	idle, err := s.sample()
	if err != nil {
		return nil, err
	}

	begun := time.Now()
	running, end := context.WithTimeout(ctx, length)
	defer end()
	r := &result{}
	var group sync.WaitGroup
	var failures [2]error
	group.Go(func() { t.run(running, length, rate) })
	group.Go(func() {
		defer end()
		r.changes, failures[0] = s.change(running, min(max(length/60, 2*time.Second), 10*time.Second))
	})
	group.Go(func() {
		defer end()
		r.samples, failures[1] = s.watch(running, max(length/400, time.Second))
	})
	group.Wait()
	if ctx.Err() != nil {
		return nil, errors.New("interrupted")
	}
	if err := errors.Join(failures[:]...); err != nil {
		return nil, err
	}
	r.took = time.Since(begun)
	t.hangUp()
	r.add(t)
	return r, s.judge(r, idle)
}

// fewestForGrowth is the number of requests that a judgement of growth requires. After
// about half of them the new names, hosts and addresses have filled the bounded tables
// of the server.
const fewestForGrowth = 200_000

// judge adds the problems that are visible only at the end.
func (s *server) judge(r *result, idle sample) error {
	if r.sent >= fewestForGrowth {
		r.problems = append(r.problems, grown(r.samples)...)
	}
	if len(r.problems) > 0 {
		profile, err := s.keepProfile()
		if err != nil {
			return err
		}
		r.problems = append(r.problems, "the heap at the end: go tool pprof "+profile)
	}
	problem, err := s.settles(idle)
	if err != nil {
		return err
	}
	if problem != "" {
		r.problems = append(r.problems, problem)
	}
	if log := s.logged("panic"); log != "" {
		r.problems = append(r.problems, "the server panicked:\n"+log)
	}
	return nil
}

// rest waits for d or until ctx ends. It reports whether it waited for all of d.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
