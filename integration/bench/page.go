package main

import (
	"errors"
	"fmt"
	"os"
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

// plotFile and plotData are the plot of growth and its figures.
const (
	plotFile = "../../docs/images/benchmarks-growth.svg"
	plotData = "../../docs/images/benchmarks-growth.tsv"
)

// write inserts the result of a section into the page.
func (s section) write(result outcome, circumstances string) error {
	if result.plot != nil {
		err := errors.Join(os.WriteFile(plotData, []byte(result.plot.tsv()), 0o644), os.WriteFile(plotFile, []byte(result.plot.svg()), 0o644))
		if err != nil {
			return err
		}
	}
	begin, end := markers(s.name)
	return harness.Rewrite(page, begin, end, strings.TrimRight(result.text, "\n")+"\n\n"+circumstances+"\n")
}

// machine describes the conditions of a measurement: date, versions, CPU and load.
func machine(short bool) string {
	effort := ""
	if short {
		effort = " in a short round (`-short`)"
	}
	return fmt.Sprintf("Measured %s%s with %s on %s/%s, %d × %s; load average %s.",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), effort, runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), processorName(), loadAverage())
}

// processorName returns the name of the CPU if the system reports it.
func processorName() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // Linux
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "an unknown processor"
}

// loadAverage returns the load average of the last minute.
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg") // Linux
	minute, _, _ := strings.Cut(string(text), " ")
	if minute == "" {
		return "unknown"
	}
	return minute
}
