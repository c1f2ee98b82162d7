package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// page is the file with the published tables.
const page = "../../docs/benchmarks.md"

// markers returns the comments that enclose the table of a section in the page.
func markers(section string) (begin, end string) {
	return "<!-- " + section + ": written by integration/bench -->\n", "<!-- end of " + section + " -->\n"
}

// plotFile returns the path of the plot of a section.
func plotFile(section string) string {
	return filepath.Join(filepath.Dir(page), "images", "benchmarks-"+section+".svg")
}

// write inserts the result of a section into the page.
func (s section) write(shown outcome, circumstances string) error {
	if shown.plot != "" {
		if err := os.WriteFile(plotFile(s.name), []byte(shown.plot), 0o644); err != nil {
			return err
		}
	}
	if !s.onPage() {
		return nil
	}
	text := circumstances + "\n"
	if shown.text != "" {
		text = shown.text + "\n" + text
	}
	begin, end := markers(s.name)
	return harness.Rewrite(page, begin, end, text)
}

// onPage reports whether the page has a place for the section. The results of other
// sections are only printed.
func (s section) onPage() bool { return s.anchor != "" }

// machine describes the conditions of a measurement: date, versions, CPU and load.
func machine(short bool) string {
	effort := ""
	if short {
		effort = " in a short round (`-short`)"
	}
	return fmt.Sprintf("Measured %s%s with %s on %s/%s, %d × %s; load average at the start %s.",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), effort, runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), processor(), load())
}

// processor returns the name of the CPU if the system reports it.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // Linux
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "an unknown processor"
}

// load returns the load average of the last minute.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg") // Linux
	minute, _, _ := strings.Cut(string(text), " ")
	if minute == "" {
		return "unknown"
	}
	return minute
}
