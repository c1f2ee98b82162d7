package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// newWorld makes the sites, their files below a folder, and their origins.
// Everything changes as often as the beat says.
func newWorld(folder string, beat beat) (*world, error) {
	w := &world{names: newFact(names(0)), registry: filepath.Join(folder, "registry.json"), ranges: filepath.Join(folder, "ranges.txt")}
	if err := os.WriteFile(w.ranges, []byte(listed+"/32\n"), 0o644); err != nil {
		return nil, err
	}
	if err := w.name(0); err != nil {
		return nil, err
	}
	for _, s := range []*site{
		{host: "files.test", enforces: true, readers: true, every: beat.texts},
		// A reader who gets a 500 would mark the upstream down.
		{host: "checked.test", enforces: true, every: beat.texts, fails: []state{robots500, robotsHang, robotsReset}},
		{host: "failing.test", enforces: true, readers: true, every: beat.texts, fails: []state{all500, refuses, robotsHang}},
		{host: "strict.test", enforces: true, readers: true, strict: true},
		{host: "managed.test", enforces: true, readers: true, managed: true, every: beat.managed},
		{host: "asked.test", enforces: true, readers: true, asked: true, every: beat.texts},
		{host: "monitored.test", clear: true, readers: true, every: beat.texts},
		{host: inventedHost, clear: true, enforces: true, readers: true, invented: true},
	} {
		s.text, s.state = newFact(text(0)), newFact(well)
		var err error
		if s.host == "files.test" {
			err = s.files(filepath.Join(folder, "site"))
		} else {
			s.origin, err = startOrigin(s.text, s.state)
		}
		if err != nil {
			return nil, err
		}
		w.sites = append(w.sites, s)
	}
	return w, nil
}

// files makes what a site of files serves.
func (s *site) files(folder string) error {
	s.publish = func(t text) error { return replaceFile(filepath.Join(folder, "robots.txt"), t.String()) }
	for _, path := range paths {
		file := filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte("page "+path), 0o644); err != nil {
			return err
		}
	}
	return s.publish(0)
}

// name writes an edition of the registry file.
func (w *world) name(n names) error {
	return replaceFile(w.registry, fmt.Sprintf(`{"crawlers": [
	{"token": "Quuxle", "operator": "Quux", "class": %q, "source": "https://quuxle.test/"}
]}
`, n.class()))
}

// replaceFile puts another file in the place of one at once.
func replaceFile(name, content string) error {
	next := name + ".next"
	if err := os.WriteFile(next, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Rename(next, name)
}

// beat is how often what changes.
type beat struct{ loads, texts, managed, names, kills, calm, samples time.Duration }

// beatFor returns that of a run of some length. All of it happens in a short one,
// too, but for a managed text, whose base is read once a minute at most.
func beatFor(length time.Duration) beat {
	of := func(parts int, least, most time.Duration) time.Duration {
		return min(max(length/time.Duration(parts), least), most)
	}
	return beat{
		loads: of(60, 2*time.Second, 9*time.Second), texts: of(60, 4*time.Second, 8*time.Second),
		managed: 90 * time.Second, names: of(3, 4*time.Second, time.Minute), kills: of(3, 4*time.Second, 80*time.Second),
		calm: of(60, time.Second, 45*time.Second), samples: max(length/400, time.Second),
	}
}
