// Command soak runs the built server under mixed traffic for a long time, while
// the configuration is reloaded every second, robots.txt files change, and
// origins fail and return. It knows what each request should be answered with,
// counts what it sends, and watches what the server uses. It fails if an answer,
// a counter or a leak is wrong. It needs the Go toolchain and no network.
package main

import (
	"context"
	"crypto/sha256"
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

func main() {
	length := flag.Duration("for", 30*time.Minute, "how long")
	rate := flag.Float64("rate", 300, "requests a second")
	write := flag.Bool("write", false, "write the result to docs/proof.md and docs/soak.svg; run it at the top of the repository")
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
	files := filepath.Join(folder, "site")
	w, err := newWorld(files)
	if err != nil {
		return nil, err
	}
	replace := []string{"$FILES", files}
	for _, s := range w.sites {
		if s.origin != nil {
			defer s.origin.close()
			replace = append(replace, "$"+strings.ToUpper(strings.TrimSuffix(s.host, ".test")), s.origin.address)
		}
	}
	server, err := startServer(folder, w.config.last(), replace...)
	if err != nil {
		return nil, err
	}
	defer server.stop()
	t := newTraffic(w, server.port)
	if err := w.warm(t); err != nil {
		log, _ := server.logs("")
		return nil, fmt.Errorf("%w\n%s", err, log)
	}
	// What the first reloads leave behind is no leak.
	for range 3 {
		if err := w.reload(server); err != nil {
			return nil, err
		}
	}
	time.Sleep(2 * time.Second)
	idle, err := take(server, time.Now())
	if err != nil {
		return nil, err
	}

	begun := time.Now()
	running, end := context.WithTimeout(ctx, length)
	defer end()
	r := &result{rate: rate}
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
	do("reloads", func() error { return w.reloads(running, server, &r.reloads) })
	for _, s := range w.sites {
		do("changes at "+s.host, func() error { return w.changes(running, server, s, t, r) })
	}
	do("samples", func() (err error) {
		r.samples, err = watch(running, server, begun, max(length/400, time.Second))
		return err
	})
	group.Wait()
	r.took = time.Since(begun)
	failures.Range(func(what, err any) bool {
		r.problems = append(r.problems, fmt.Sprintf("%s: %v", what, err))
		return true
	})
	if ctx.Err() != nil {
		return nil, errors.New("interrupted")
	}

	metrics, err := server.metrics()
	if err != nil {
		return nil, err
	}
	problems, counted := t.compare(metrics)
	r.finish(t, problems, counted)
	if length >= 5*time.Minute { // less says nothing about what grows
		r.problems = append(r.problems, grown(r.samples)...)
	}
	if err := settle(server, idle); err != nil {
		r.problems = append(r.problems, err.Error())
	}
	if log, found := server.logs("panic"); found {
		r.problems = append(r.problems, "there was a panic:\n"+log)
	}
	return r, nil
}

// hash returns a text's version as the admin API tells it.
func hash(t text) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(t.String()))) }
