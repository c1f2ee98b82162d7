package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// newWorld makes the sites, their files below a folder, and their origins.
func newWorld(files string) (*world, error) {
	w := &world{config: newFact(config(0))}
	for _, s := range []*site{
		{host: "files.test", enforces: true, readers: true},
		{host: "checked.test", enforces: true}, // a reader who gets a 500 would mark the upstream down
		{host: "failing.test", enforces: true, readers: true},
		{host: "monitored.test", readers: true},
		{host: inventedHost, enforces: true, readers: true, invented: true},
	} {
		s.text, s.state = newFact(text(0)), newFact(well)
		if s.host == "files.test" {
			s.publish = func(t text) error { return replaceFile(filepath.Join(files, "robots.txt"), t.String()) }
			for _, path := range paths {
				file := filepath.Join(files, path)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					return nil, err
				}
				if err := os.WriteFile(file, []byte("page "+path), 0o644); err != nil {
					return nil, err
				}
			}
			if err := s.publish(0); err != nil {
				return nil, err
			}
		} else {
			var err error
			if s.origin, err = startOrigin(s.text, s.state); err != nil {
				return nil, err
			}
		}
		w.sites = append(w.sites, s)
	}
	return w, nil
}

// replaceFile puts another file in the place of one at once.
func replaceFile(name, content string) error {
	next := name + ".next"
	if err := os.WriteFile(next, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Rename(next, name)
}

// warm asks at each site until its robots.txt is known.
func (w *world) warm(t *traffic) error {
	for _, s := range w.sites {
		if s.invented {
			continue
		}
		want := http.StatusForbidden
		if !s.enforces {
			want = http.StatusOK
		}
		if err := t.until(s, clients[5], "/private/x", want); err != nil {
			return err
		}
	}
	return nil
}

// until asks until the answer is as wanted.
func (t *traffic) until(s *site, c client, path string, want int) error {
	status := 0
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if status = t.probe(s, c, path); status == want {
			return nil
		}
	}
	return fmt.Errorf("%s%s answers %s with %d, not %d", s.host, path, c.name, status, want)
}

// reload gives the server the next configuration.
func (w *world) reload(server *server) (err error) {
	next := w.config.last() + 1
	w.config.change(next, func() { err = server.load(next) })
	return err
}

// reloads does so every second.
func (w *world) reloads(ctx context.Context, server *server, n *int) error {
	for rest(ctx, time.Second) {
		if err := w.reload(server); err != nil {
			return fmt.Errorf("after %d: %w", *n, err)
		}
		*n++
	}
	return nil
}

// changes goes through the states of a site's origin, and publishes another
// robots.txt when it is well.
func (w *world) changes(ctx context.Context, server *server, s *site, t *traffic, r *result) error {
	for round := 0; rest(ctx, 4*time.Second); round++ {
		if s.invented {
			continue // the hosts change all the time
		}
		var err error
		next := s.text.last() + 1
		s.text.change(next, func() { err = w.publish(server, s, next, t) })
		if err != nil {
			return err
		}
		atomic.AddInt64(&r.texts, 1)
		states := s.failures()
		if len(states) == 0 || !rest(ctx, 4*time.Second) {
			continue
		}
		failing := states[round%len(states)]
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
			err = t.until(s, clients[0], "/page", http.StatusOK)
		})
		if err != nil {
			return err
		}
		atomic.AddInt64(&r.outages, 1)
	}
	return nil
}

// failures returns how a site's origin fails.
func (s *site) failures() []state {
	switch s.host {
	case "checked.test":
		return []state{robots500, robotsHang, robotsReset}
	case "failing.test":
		return []state{all500, refuses, robotsHang}
	}
	return nil
}

// publish puts a robots.txt where the site has it and waits until the server
// judges by it.
func (w *world) publish(server *server, s *site, t text, by *traffic) error {
	if s.publish != nil {
		if err := s.publish(t); err != nil {
			return err
		}
	}
	if err := server.refresh(s.host); err != nil { // an attempt may be far off after a failure
		return err
	}
	known := ""
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		by.probe(s, clients[5], "/page") // for it is read when a crawler comes
		var err error
		if known, err = server.version(s.host); err != nil {
			return err
		}
		if known == hash(t) {
			return nil
		}
	}
	return fmt.Errorf("%s: a minute after version %d was published, %s is in force", s.host, int(t), known)
}
