package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestGrown tells a leak from noise.
func TestGrown(t *testing.T) {
	var steady, leaking []sample
	for i := range 100 {
		noise := 20 * math.Sin(float64(i))
		steady = append(steady, sample{time.Duration(i) * time.Second, 50 + noise, 40 + noise, 10e6 + 1e5*noise})
		leaking = append(leaking, sample{time.Duration(i) * time.Second, 50 + noise, 40 + noise + float64(i), 10e6})
	}
	if problems := grown("A", steady); len(problems) > 0 {
		t.Error(problems)
	}
	if problems := grown("A", leaking); len(problems) != 1 || !strings.HasPrefix(problems[0], "A: open files") {
		t.Error(problems)
	}
}

// TestSoak runs it for a moment.
func TestSoak(t *testing.T) {
	if !harness.Long() {
		t.Skip("takes two minutes: run with LONG_TESTS=1")
	}
	r, err := soak(t.Context(), 12*time.Second, 90)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r)
	if len(r.problems) > 0 {
		t.Errorf("%d problems", len(r.problems))
	}
	if r.reloads == 0 || r.texts == 0 || r.kills == 0 || r.editions == 0 || r.statuses[429] == 0 || r.as["verified"] == 0 || r.as["spoofed"] == 0 || r.asked == 0 || r.by[1] == 0 || r.by[2] == 0 || r.by[3] == 0 || r.counted == 0 {
		t.Error("nothing happened")
	}
}

// TestRisen tells a heap that rises at once from noise, and from what is yet too short.
func TestRisen(t *testing.T) {
	heap := func(last float64, before int) (all []sample) {
		for i := range before {
			all = append(all, sample{bytes: 30e6 + 5e6*math.Sin(float64(i))})
		}
		return append(all, sample{bytes: last})
	}
	if !risen(heap(55e6, 12)) || risen(heap(40e6, 12)) || risen(heap(55e6, 9)) {
		t.Error(risen(heap(55e6, 12)), risen(heap(40e6, 12)), risen(heap(55e6, 9)))
	}
}
