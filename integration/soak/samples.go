package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// sample is what the server uses at a time.
type sample struct {
	goroutines, files, bytes float64 // bytes of the heap after a garbage collection
}

var (
	goroutines = regexp.MustCompile(`(?m)^go_goroutines (\S+)$`)
	openFiles  = regexp.MustCompile(`(?m)^process_open_fds (\S+)$`)
	heapAlloc  = regexp.MustCompile(`(?m)^# HeapAlloc = (\d+)$`)
)

// sample returns what the server uses now. The heap is that of a profile: the metrics include some
// megabytes of garbage.
func (s *server) sample() (sample, error) {
	profile, err := s.ask(http.MethodGet, "/debug/pprof/heap?gc=1&debug=1", "")
	if err != nil {
		return sample{}, err
	}
	metrics, err := s.ask(http.MethodGet, "/metrics", "")
	if err != nil {
		return sample{}, err
	}
	return sample{figure(metrics, goroutines), figure(metrics, openFiles), figure(profile, heapAlloc)}, nil
}

// figure returns the number that an expression finds, NaN for none.
func figure(text []byte, of *regexp.Regexp) float64 {
	found := of.FindSubmatch(text)
	if found == nil {
		return math.NaN()
	}
	n, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		return math.NaN()
	}
	return n
}

// watch takes samples until ctx ends.
func (s *server) watch(ctx context.Context, every time.Duration) (all []sample, err error) {
	for rest(ctx, every) {
		one, err := s.sample()
		if err != nil {
			return all, err
		}
		all = append(all, one)
	}
	return all, nil
}

// keepProfile writes a heap profile to a file that stays, and returns its name.
func (s *server) keepProfile() (string, error) {
	profile, err := s.ask(http.MethodGet, "/debug/pprof/heap?gc=1", "")
	if err != nil {
		return "", err
	}
	name := filepath.Join(os.TempDir(), fmt.Sprintf("robots-guard-heap-%d", os.Getpid()))
	return name, os.WriteFile(name, profile, 0o600)
}

// series is one of the figures of a sample, and how much it may grow.
type series struct {
	name, unit string
	of         func(sample) float64
	scale      float64 // of the figure that is printed
	few        float64 // may come on top of a tenth
}

var watched = []series{
	{"goroutines", "", func(s sample) float64 { return s.goroutines }, 1, 30},
	{"open files", "", func(s sample) float64 { return s.files }, 1, 30},
	{"heap", " MB", func(s sample) float64 { return s.bytes }, 1e-6, 4e6},
}

// quarters returns the medians of a figure in the second and in the last quarter of the samples.
// The first quarter is for warming up.
func (s series) quarters(all []sample) (second, last float64) {
	n := len(all) / 4
	return s.median(all[n : 2*n]), s.median(all[len(all)-n:])
}

func (s series) median(all []sample) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	var values []float64
	for _, one := range all {
		values = append(values, s.of(one))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// grown returns the figures that grew by more than they may.
func grown(all []sample) (problems []string) {
	for _, s := range watched {
		if before, after := s.quarters(all); after > before*1.1+s.few {
			problems = append(problems, fmt.Sprintf("%s grew from %.1f to %.1f%s", s.name, before*s.scale, after*s.scale, s.unit))
		}
	}
	return problems
}

// settles waits until the server, idle again, uses what it used before. Goroutines of closed
// connections take a while to end.
func (s *server) settles(before sample) (problem string, err error) {
	var now sample
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Second) {
		if now, err = s.sample(); err != nil {
			return "", err
		}
		if now.goroutines <= before.goroutines+20 && !(now.files > before.files+20) { // NaN where the system does not count files
			return "", nil
		}
	}
	return fmt.Sprintf("%v goroutines and %v open files when idle again, %v and %v before", now.goroutines, now.files, before.goroutines, before.files), nil
}
