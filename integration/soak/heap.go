package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// heaps keeps profiles of what an instance holds, in a folder that is made when there is
// the first to be kept.
type heaps struct {
	folder string
	base   []byte // after warming up
	kept   int
}

// A rise is a heap of so many bytes more than the median of so many samples before. Of each
// instance so many are kept.
const (
	rise       = 15e6
	riseBefore = 10
	risesKept  = 12
)

// risen reports whether the last heap is a rise.
func risen(all []sample) bool {
	n := len(all) - 1
	if n < riseBefore {
		return false
	}
	var before []float64
	for _, one := range all[n-riseBefore : n] {
		before = append(before, one.bytes)
	}
	slices.Sort(before)
	return all[n].bytes > before[riseBefore/2]+rise
}

// look keeps the profile that others are held against, and that of a rise.
func (h *heaps) look(in *instance, all []sample, warm bool) (err error) {
	switch {
	case !warm:
	case h.base == nil:
		h.base, err = in.ask(http.MethodGet, "/debug/pprof/heap", "", nil) // of the last collection
	case risen(all):
		err = h.keep(in, all[len(all)-1].at)
	}
	return err
}

// keep writes what an instance holds now, and tells where.
func (h *heaps) keep(in *instance, at time.Duration) error {
	if h.kept++; h.kept > risesKept {
		return nil
	}
	now, err := in.ask(http.MethodGet, "/debug/pprof/heap", "", nil)
	if err != nil {
		return err
	}
	if h.folder == "" {
		if h.folder, err = os.MkdirTemp("", "robots-guard-heap-"+in.name); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(h.folder, "base"), h.base, 0o600); err != nil {
			return err
		}
	}
	file := filepath.Join(h.folder, at.Round(time.Second).String())
	fmt.Fprintf(os.Stderr, "%s: its heap has risen; go tool pprof -diff_base %s %s\n", in.name, filepath.Join(h.folder, "base"), file)
	return os.WriteFile(file, now, 0o600)
}

var heapAlloc = regexp.MustCompile(`(?m)^# HeapAlloc = (\d+)$`)

// heap returns the bytes of the heap just after a collection of garbage. What metrics say is
// some megabytes of garbage more: that of writing the profile.
func (in *instance) heap() (float64, error) {
	text, err := in.ask(http.MethodGet, "/debug/pprof/heap?gc=1&debug=1", "", nil)
	if err != nil {
		return 0, err
	}
	found := heapAlloc.FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("%s: a heap profile without HeapAlloc", in.name)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}
