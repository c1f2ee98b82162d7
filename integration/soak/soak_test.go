package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestGrown checks that grown distinguishes a leak from noise.
func TestGrown(t *testing.T) {
	var steady, leaking []sample
	for i := range 100 {
		noise := 20 * math.Sin(float64(i))
		steady = append(steady, sample{50 + noise, 40 + noise, 10e6 + 1e5*noise})
		leaking = append(leaking, sample{50 + noise, 40 + noise + float64(i), 10e6})
	}
	if problems := grown(steady); len(problems) > 0 {
		t.Error(problems)
	}
	if problems := grown(leaking); len(problems) != 1 || !strings.HasPrefix(problems[0], "open files") {
		t.Error(problems)
	}
}

// TestSoak runs the soak for a few seconds.
func TestSoak(t *testing.T) {
	if !harness.Long() {
		t.Skip("takes half a minute: run with LONG_TESTS=1")
	}
	r, err := soak(t.Context(), 12*time.Second, 90)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r)
	if len(r.problems) > 0 {
		t.Errorf("%d problems", len(r.problems))
	}
	if r.changes == 0 || r.statuses[200] == 0 || r.statuses[403]+r.statuses[410] == 0 || r.statuses[429] == 0 || r.versions[1] == 0 || r.versions[2] == 0 || r.versions[3] == 0 {
		t.Error("some traffic is missing")
	}
}
