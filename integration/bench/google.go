package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// google is Google's own parser and matcher in C++. It is compiled from a checkout and
// runs as a process that measures its own CPU time. See google/driver.cc for the
// commands. A nil *google means that it is not available.
type google struct {
	directory string // holds the compiled program
	process   *exec.Cmd
	in        *bufio.Writer
	closing   io.Closer // closes in
	out       *bufio.Reader
	failed    error // the first error; later answers are the zero value
}

// startGoogle compiles the driver with g++ against the library in checkout, with the
// linker flags in libraries, and starts it.
func startGoogle(checkout string, libraries ...string) (*google, error) {
	directory, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	g := &google{directory: directory}
	program := filepath.Join(directory, "driver")
	arguments := []string{"-std=c++17", "-O2", "-DNDEBUG", "-I", checkout, "-o", program,
		filepath.Join("google", "driver.cc"), filepath.Join(checkout, "robots.cc")}
	compile := exec.Command("g++", append(arguments, libraries...)...)
	if text, err := compile.CombinedOutput(); err != nil {
		g.stop()
		return nil, fmt.Errorf("compiling with %s: %w: %.2000s", checkout, err, text)
	}
	g.process = exec.Command(program)
	g.process.Stderr = os.Stderr
	in, err := g.process.StdinPipe()
	if err != nil {
		g.stop()
		return nil, err
	}
	out, err := g.process.StdoutPipe()
	if err != nil {
		g.stop()
		return nil, err
	}
	g.in, g.closing, g.out = bufio.NewWriter(in), in, bufio.NewReader(out)
	if err := g.process.Start(); err != nil {
		g.stop()
		return nil, err
	}
	return g, nil
}

// abseil returns the linker flags for the parts of Abseil that the library needs.
func abseil() []string {
	if flags, err := exec.Command("pkg-config", "--cflags", "--libs", "absl_strings", "absl_fixed_array").Output(); err == nil {
		return strings.Fields(string(flags))
	}
	return []string{"-labsl_strings", "-labsl_strings_internal", "-labsl_int128", "-labsl_throw_delegate", "-labsl_raw_logging_internal", "-labsl_base"}
}

func (g *google) stop() {
	if g == nil {
		return
	}
	if g.process != nil && g.process.Process != nil {
		_ = g.closing.Close() // the process exits at the end of its input
		_ = g.process.Wait()
	}
	_ = os.RemoveAll(g.directory)
}

// command sends a command with its texts and returns the words of the answer.
func (g *google) command(command string, texts ...string) []string {
	if g.failed != nil {
		return nil
	}
	_, _ = g.in.WriteString(command)
	for _, text := range texts {
		fmt.Fprintf(g.in, " %d\n%s", len(text), text)
	}
	_ = g.in.WriteByte('\n')
	if g.failed = g.in.Flush(); g.failed != nil {
		return nil
	}
	line, err := g.out.ReadString('\n')
	if g.failed = err; err != nil {
		fmt.Fprintln(os.Stderr, "bench: Google's C++:", err)
	}
	return strings.Fields(line)
}

// repeat makes the driver repeat a command for d. It returns the CPU time per operation
// in nanoseconds, 0 after an error.
func (g *google) repeat(command string, d time.Duration) float64 {
	words := g.command(fmt.Sprintf("%s %d", command, d.Nanoseconds()))
	if len(words) == 0 {
		return 0
	}
	ns, _ := strconv.ParseFloat(words[0], 64)
	return ns
}

// allowed reports whether a crawler may fetch a target.
func (g *google) allowed(text, token, target string) bool {
	g.command("file", text)
	g.command("agent", token)
	g.command("urls 1", site+target)
	words := g.command("ask")
	return len(words) == 1 && words[0] == "1"
}

const googleName = "Google's C++"

// scanCell returns the cell that parses a file with a handler that only counts.
func (g *google) scanCell(text string) cell {
	return cell{who: googleName + ", scan only", timed: func(d time.Duration) float64 {
		g.command("file", text)
		return g.repeat("scan", d)
	}}
}

// verdictCell returns the cell that evaluates the targets in turn.
func (g *google) verdictCell(text string, targets []string) cell {
	urls := make([]string, len(targets))
	for i, target := range targets {
		urls[i] = site + target
	}
	return cell{who: googleName, timed: func(d time.Duration) float64 {
		g.command("file", text)
		g.command("agent", "Googlebot")
		g.command(fmt.Sprintf("urls %d", len(urls)), urls...)
		return g.repeat("verdict", d)
	}}
}
