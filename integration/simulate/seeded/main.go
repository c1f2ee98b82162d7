// Command seeded checks whether the simulation finds mistakes. It adds one mistake at a
// time to the guard and simulates until an invariant is violated. It does not change
// files of the repository, but compiles modified copies (go test -overlay).
//
//	go run ./integration/simulate/seeded [-worlds n] [number ...]
//
// It exits with status 1 if a mistake is not found.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A mistake is a replacement in a file.
type mistake struct {
	what          string
	file          string
	before, after string
}

func main() {
	worlds := flag.Int("worlds", 200, "how many worlds to try")
	flag.Parse()
	found, err := run(*worlds, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "seeded:", err)
		os.Exit(1)
	}
	for _, seed := range found {
		if seed == "" {
			os.Exit(1)
		}
	}
}

// run simulates each mistake, or those with the given numbers. For each it returns the
// seed and the violated invariant, or "" if the simulation did not find the mistake.
func run(worlds int, only []string) (found []string, err error) {
	dir, err := os.MkdirTemp("", "seeded")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for n, m := range mistakes {
		if len(only) > 0 && !slices.Contains(only, strconv.Itoa(n+1)) {
			continue
		}
		how, err := m.simulate(dir, worlds)
		if err != nil {
			return nil, fmt.Errorf("%d, %s: %w", n+1, m.what, err)
		}
		found = append(found, how)
		if how == "" {
			how = "NOT FOUND"
		}
		fmt.Printf("%2d  %s: %s\n", n+1, m.what, how)
	}
	return found, nil
}

// apply returns the content of the file with the mistake.
func (m mistake) apply() (string, error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.before); n != 1 {
		return "", fmt.Errorf("%s has the text that is replaced %d times", m.file, n)
	}
	return strings.Replace(string(text), m.before, m.after, 1), nil
}

// failure matches the failure of a world that violates an invariant.
var failure = regexp.MustCompile(`(?m)seed (\d+): (.*)$`)

// simulate returns the seed and the invariant by which the simulation finds the
// mistake, or "".
func (m mistake) simulate(dir string, worlds int) (string, error) {
	text, err := m.apply()
	if err != nil {
		return "", err
	}
	top, err := os.Getwd()
	if err != nil {
		return "", err
	}
	with, program := filepath.Join(dir, "with.go"), filepath.Join(dir, "simulate.test")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(top, m.file): with}})
	if err != nil {
		return "", err
	}
	for name, text := range map[string][]byte{with: []byte(text), filepath.Join(dir, "overlay.json"): overlay} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return "", err
		}
	}
	build := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "./integration/simulate")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	simulation := exec.Command(program, "-test.run", "TestWorlds", "-test.timeout", "0")
	simulation.Dir = dir
	simulation.Env = append(os.Environ(), "SIMULATE_WORLDS="+strconv.Itoa(worlds), "SIMULATE_SHRINK=0")
	out, err := simulation.CombinedOutput()
	said := failure.FindStringSubmatch(string(out))
	switch {
	case err == nil:
		return "", nil
	case said == nil:
		return "", fmt.Errorf("it fails, but not by an invariant: %w: %s", err, out)
	}
	return fmt.Sprintf("world %s: %s", said[1], said[2]), nil
}
