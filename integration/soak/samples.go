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

// sample holds the resources that the server uses at one time.
type sample struct {
	goroutines, files, bytes float64 // bytes of the heap after a garbage collection
}

var (
	goroutines = regexp.MustCompile(`(?m)^go_goroutines (\S+)$`)
	openFiles  = regexp.MustCompile(`(?m)^process_open_fds (\S+)$`)
	heapAlloc  = regexp.MustCompile(`(?m)^# HeapAlloc = (\d+)$`)
)

// sample measures the resources that the server uses now. It takes the heap size from a
// heap profile, because the metrics include some megabytes of garbage.
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

// figure returns the number that the expression of matches, or NaN.
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

// keepProfile writes a heap profile to a temporary file and returns its name. The file
// is not removed.
func (s *server) keepProfile() (string, error) {
	profile, err := s.ask(http.MethodGet, "/debug/pprof/heap?gc=1", "")
	if err != nil {
		return "", err
	}
	name := filepath.Join(os.TempDir(), fmt.Sprintf("robots-guard-heap-%d", os.Getpid()))
	return name, os.WriteFile(name, profile, 0o600)
}

// series is one field of a sample with the limit of its growth.
type series struct {
	name, unit string
	of         func(sample) float64
	scale      float64 // factor for printing
	few        float64 // allowed growth in addition to a tenth
}

var watched = []series{
	{"goroutines", "", func(s sample) float64 { return s.goroutines }, 1, 30},
	{"open files", "", func(s sample) float64 { return s.files }, 1, 30},
	{"heap", " MB", func(s sample) float64 { return s.bytes }, 1e-6, 4e6},
}

// quarters returns the medians of the second and the last quarter of the samples. The
// first quarter is the warm-up.
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

// grown returns a problem for each series that grew beyond its limit.
func grown(all []sample) (problems []string) {
	for _, s := range watched {
		if before, after := s.quarters(all); after > before*1.1+s.few {
			problems = append(problems, fmt.Sprintf("%s grew from %.1f to %.1f%s", s.name, before*s.scale, after*s.scale, s.unit))
		}
	}
	return problems
}

// settles waits until the idle server uses no more resources than before. Goroutines of
// closed connections take a while to exit.
func (s *server) settles(before sample) (problem string, err error) {
	var now sample
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Second) {
		if now, err = s.sample(); err != nil {
			return "", err
		}
		// NaN if the system does not count files
		if now.goroutines <= before.goroutines+20 && !(now.files > before.files+20) {
			return "", nil
		}
	}
	return fmt.Sprintf("%v goroutines and %v open files when idle again, %v and %v before", now.goroutines, now.files, before.goroutines, before.files), nil
}
