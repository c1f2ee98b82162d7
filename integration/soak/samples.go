package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// sample is what an instance uses at a time.
type sample struct {
	at                       time.Duration // since the start
	goroutines, files, bytes float64       // bytes of the heap after a collection of garbage
}

// take asks an instance.
func take(in *instance, begun time.Time) (sample, error) {
	bytes, err := in.heap()
	if err != nil {
		return sample{}, err
	}
	m, err := in.metrics()
	if err != nil {
		return sample{}, err
	}
	return sample{time.Since(begun), m["go_goroutines"], m["process_open_fds"], bytes}, nil
}

// watch takes samples until ctx ends, and looks at the heap once it is warm.
func watch(ctx context.Context, in *instance, begun time.Time, every, warm time.Duration, h *heaps) (all []sample, err error) {
	for rest(ctx, every) {
		one, err := take(in, begun)
		if err != nil {
			return all, err
		}
		all = append(all, one)
		if err := h.look(in, all, one.at >= warm); err != nil {
			return all, err
		}
	}
	return all, nil
}

// series is one of the figures of a sample, and how much more of it there may be
// at the end than after the first quarter.
type series struct {
	name, unit string
	of         func(sample) float64
	scale      float64 // of what is shown
	share, few float64
}

var watched = []series{
	{"goroutines", "", func(s sample) float64 { return s.goroutines }, 1, 0.1, 30},
	{"open files", "", func(s sample) float64 { return s.files }, 1, 0.1, 30},
	{"heap", " MB", func(s sample) float64 { return s.bytes }, 1e-6, 0.1, 4e6},
}

// quarter returns the median of a figure in the second or the last quarter of
// the samples. The first is for warming up.
func (s series) quarter(all []sample, last bool) float64 {
	n := len(all) / 4
	part := all[n : 2*n]
	if last {
		part = all[len(all)-n:]
	}
	var values []float64
	for _, one := range part {
		values = append(values, s.of(one))
	}
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// grown tells what there is more of at the end than there may be.
func grown(name string, all []sample) (problems []string) {
	for _, s := range watched {
		if before, after := s.quarter(all, false), s.quarter(all, true); after > before*(1+s.share)+s.few {
			problems = append(problems, fmt.Sprintf("%s: %s grew from %.1f to %.1f%s", name, s.name, before*s.scale, after*s.scale, s.unit))
		}
	}
	return problems
}

// settle waits until an instance, idle again, has gone back to what it used
// before, which takes a little for goroutines of connections that are closed.
func settle(in *instance, before sample) error {
	var now sample
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Second) {
		var err error
		if now, err = take(in, time.Now()); err != nil {
			return err
		}
		if now.goroutines <= before.goroutines+20 && now.files <= before.files+20 {
			return nil
		}
	}
	return fmt.Errorf("%s: %v goroutines and %v open files when idle again, %v and %v before", in.name, now.goroutines, now.files, before.goroutines, before.files)
}
