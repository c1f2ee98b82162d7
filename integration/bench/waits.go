package main

import (
	"bytes"
	"regexp"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

const product = "github.com/robotsguard/caddy-robots-guard/"

// Places outside of the product.
const (
	elsewhere = "elsewhere"
	inRuntime = "Go's runtime" // such as the heap's lock, which all of a program shares
)

// waits returns how long requests have waited so far, by the innermost function
// of the product on the stack, unless that has passed the request on to the next
// handler. The profile "block" has mutexes and channels, told by those who wait;
// the profile "mutex" has mutexes and locks of Go's runtime, told by those who
// release them.
func waits(profile string) map[string]time.Duration {
	var text bytes.Buffer
	_ = pprof.Lookup(profile).WriteTo(&text, 1)
	return waitsIn(text.String())
}

// since returns what was waited after a time.
func since(before, now map[string]time.Duration) map[string]time.Duration {
	waited := make(map[string]time.Duration)
	for place, total := range now {
		if total > before[place] {
			waited[place] = total - before[place]
		}
	}
	return waited
}

var (
	cyclesPerSecond = regexp.MustCompile(`cycles/second=(\d+)`)
	waitRecord      = regexp.MustCompile(`^(\d+) \d+ @`)
	frameOfStack    = regexp.MustCompile(`^#\s+0x[0-9a-f]+\s+(\S+)\+0x`)
)

// waitsIn reads a profile of blocking or of mutexes in the form for people.
func waitsIn(profile string) map[string]time.Duration {
	rate := 1e9
	if m := cyclesPerSecond.FindStringSubmatch(profile); m != nil {
		rate, _ = strconv.ParseFloat(m[1], 64)
	}
	total := make(map[string]time.Duration)
	for record := range strings.SplitSeq(profile, "\n\n") {
		record = strings.TrimPrefix(record, strings.Join(headerLines(record), ""))
		m := waitRecord.FindStringSubmatch(record)
		if m == nil || !strings.Contains(record, "caddyhttp.(*Server).ServeHTTP") {
			continue // not a request
		}
		cycles, _ := strconv.ParseFloat(m[1], 64)
		total[placeOf(record)] += time.Duration(cycles / rate * 1e9)
	}
	return total
}

// placeOf returns where a record of a profile is counted.
func placeOf(record string) string {
	first := true
	for line := range strings.Lines(record) {
		frame := frameOfStack.FindStringSubmatch(line)
		if frame == nil {
			continue
		}
		function, ours := strings.CutPrefix(frame[1], product)
		switch {
		case first && strings.HasPrefix(function, "runtime.") && strings.Contains(strings.ToLower(function), "lock"):
			return inRuntime // and not runtime.chansend1 or runtime.selectgo
		case strings.HasPrefix(function, "github.com/caddyserver/caddy/v2/modules/caddyhttp.HandlerFunc."):
			return elsewhere // which the guard has passed the request on to
		case ours && !strings.HasPrefix(function, "integration/"):
			return product + function
		}
		first = false
	}
	return elsewhere
}

// headerLines returns the lines before the first record.
func headerLines(record string) (lines []string) {
	for line := range strings.Lines(record) {
		if waitRecord.MatchString(line) {
			break
		}
		lines = append(lines, line)
	}
	return lines
}
