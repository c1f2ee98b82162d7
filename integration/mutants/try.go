package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// quick is how long a test takes that is among the first to run.
const quick = 200 * time.Millisecond

// trials are the runs that each mutant has to survive.
type trials struct {
	dir string // of the binaries
	all []trial
}

// A trial is a run of some tests.
type trial struct {
	program, dir string
	args         []string
	most         time.Duration
}

// prepare compiles the tests with all mutants in them, and finds out how long they take
// without any.
func prepare(p *source, files map[string][]byte, slow bool) (*trials, error) {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	t := &trials{dir: dir}
	if err := t.compile(p, files, slow); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *trials) close() { os.RemoveAll(t.dir) }

// compile compiles the tests of a package.
func (t *trials) compile(p *source, files map[string][]byte, slow bool) error {
	replaced := make(map[string]string)
	files["mutant_now.go"] = p.helper()
	for name, text := range files {
		replaced[filepath.Join(p.dir, name)] = filepath.Join(t.dir, name)
		if err := os.WriteFile(filepath.Join(t.dir, name), text, 0o600); err != nil {
			return err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(t.dir, "overlay.json"), overlay, 0o600); err != nil {
		return err
	}
	program := filepath.Join(t.dir, "mutants.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(t.dir, "overlay.json"), "-o", program, ".")
	build.Dir = p.dir
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	t.all = measured(program, p.dir, "-test.short")
	if slow {
		t.all = append(t.all, measured(program, p.dir)...)
	}
	return nil
}

// verdict is what a test binary says of a test.
var verdict = regexp.MustCompile(`(?m)^--- (PASS|FAIL): (\S+) \(([0-9.]+)s\)`)

// measured runs tests without a mutant, and returns trials of those that pass: the quick ones
// first. Tests that count allocations fail with all mutants alike.
func measured(program, dir string, args ...string) (all []trial) {
	run := exec.Command(program, append(args, "-test.v", "-test.timeout=0")...)
	run.Dir, run.Env = dir, append(os.Environ(), variable+"=0")
	out, _ := run.CombinedOutput()
	names := [2][]string{} // quick and others
	times := [2]time.Duration{}
	for _, said := range verdict.FindAllStringSubmatch(string(out), -1) {
		if said[1] == "FAIL" {
			fmt.Fprintf(os.Stderr, "left out, since it fails without a mutant: %s\n", said[2])
			continue
		}
		took, _ := time.ParseDuration(said[3] + "s")
		i := 0
		if took > quick {
			i = 1
		}
		names[i], times[i] = append(names[i], regexp.QuoteMeta(said[2])), times[i]+took
	}
	for i, some := range names {
		if len(some) > 0 {
			most := 10*time.Second + 10*times[i]
			all = append(all, trial{program, dir, append(slices.Clone(args), "-test.failfast", "-test.run=^("+strings.Join(some, "|")+")$"), most})
		}
	}
	return all
}

// try returns which mutants live through all trials.
func (t *trials) try(mutants []mutant, workers int) (lived map[int]bool, err error) {
	lived = make(map[int]bool)
	var mu sync.Mutex
	var wait sync.WaitGroup
	next := make(chan mutant)
	for range max(1, workers) {
		wait.Go(func() {
			for m := range next {
				found, failed := t.notice(m)
				mu.Lock()
				lived[m.number], err = !found, cmp.Or(err, failed)
				mu.Unlock()
			}
		})
	}
	for i, m := range mutants {
		if next <- m; i%100 == 99 {
			fmt.Fprintf(os.Stderr, "%d of %d\n", i+1, len(mutants))
		}
	}
	close(next)
	wait.Wait()
	return lived, err
}

// notice reports whether a trial fails with a mutant, or does not end.
func (t *trials) notice(m mutant) (bool, error) {
	for _, trial := range t.all {
		ctx, cancel := context.WithTimeout(context.Background(), trial.most)
		defer cancel()
		run := exec.CommandContext(ctx, trial.program, trial.args...)
		run.Dir, run.Env = trial.dir, append(os.Environ(), variable+"="+strconv.Itoa(m.number))
		var out bytes.Buffer
		run.Stdout, run.Stderr, run.WaitDelay = &out, &out, time.Second
		err := run.Run()
		switch _, exited := err.(*exec.ExitError); {
		case exited, ctx.Err() != nil:
			return true, nil
		case err != nil:
			return false, err
		}
	}
	return false, nil
}
