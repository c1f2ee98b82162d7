package main

import (
	"fmt"
	"slices"
	"time"
)

// compare holds what an instance has counted in its life against what was sent.
// Nobody may ask it meanwhile.
func (t *traffic) compare(in *instance) (problems []string, counted int, err error) {
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		metrics, err := in.metrics()
		if err != nil {
			return nil, 0, err
		}
		// An answer may be there before it is counted.
		if problems, counted = t.held(in.name, metrics); len(problems) == 0 || time.Now().After(deadline) {
			return problems, counted, nil
		}
	}
}

// held holds metrics against what was sent.
func (t *traffic) held(instance string, metrics map[string]float64) (problems []string, counted int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	type figures struct{ judged, blocked, slowed int }
	found := make(map[count]figures)
	for name, value := range metrics {
		labels, ok := labelsOf(name, "caddy_robots_guard_requests_total")
		if !ok {
			continue
		}
		key := count{instance, labels["host"], labels["crawler"], labels["identity"]}
		f := found[key]
		f.judged += int(value)
		counted += int(value)
		switch labels["action"] {
		case "blocked":
			f.blocked += int(value)
		case "slowed":
			f.slowed += int(value)
		}
		found[key] = f
	}
	for key, sent := range t.counts {
		if key.instance != instance {
			continue
		}
		sent.compared = sent.answered
		t.counts[key] = sent
		if key.crawler == "" {
			continue
		}
		if key.host == inventedHost {
			key.host = "_other"
		}
		f := found[key]
		for _, one := range []struct {
			what          string
			counted, sent int
		}{{"counted", f.judged, sent.answered}, {"counted as blocked", f.blocked, sent.refused}, {"counted as slowed", f.slowed, sent.slowed}} {
			if one.counted < one.sent || one.counted > one.sent+sent.broken {
				problems = append(problems, fmt.Sprintf("%s: %s %s at %s: %d %s, %d answered so, %d broken", instance, key.identity, key.crawler, key.host, one.counted, one.what, one.sent, sent.broken))
			}
		}
		delete(found, key)
	}
	for key, f := range found {
		problems = append(problems, fmt.Sprintf("%s: %d counted for %s %q at %q, which nobody sent", instance, f.judged, key.identity, key.crawler, key.host))
	}
	slices.Sort(problems)
	return problems, counted
}

// forget begins the counts of an instance anew, as it does itself when it has been
// killed.
func (t *traffic) forget(in *instance) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, sent := range t.counts {
		if key.instance == in.name {
			if key.crawler != "" {
				t.lost += sent.answered - sent.compared
			}
			delete(t.counts, key)
		}
	}
}
