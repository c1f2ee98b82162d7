package command

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/spf13/cobra"
)

// openTerminal returns a terminal with this number of columns, and a file with its output.
func openTerminal(t *testing.T, columns uint16) (terminal, shown *os.File) {
	t.Helper()
	shown, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("this machine has no terminals to open: %v", err)
	}
	t.Cleanup(func() { _ = shown.Close() })
	ioctl := func(f *os.File, request uintptr, value unsafe.Pointer) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(value)); errno != 0 {
			t.Fatal(errno)
		}
	}
	var locked, number int32
	ioctl(shown, syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	ioctl(shown, syscall.TIOCGPTN, unsafe.Pointer(&number))
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	size := [4]uint16{24, columns}
	ioctl(terminal, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	return terminal, shown
}

// onTerminal runs a command and returns its output on a terminal with 60 columns.
func onTerminal(t *testing.T, args ...string) string {
	t.Helper()
	terminal, shown := openTerminal(t, 60)
	var b strings.Builder
	done := make(chan struct{})
	go func() {
		defer close(done)
		piece := make([]byte, 4096)
		for !strings.Contains(b.String(), "the end") {
			n, err := shown.Read(piece)
			b.Write(piece[:n])
			if err != nil {
				return
			}
		}
	}()
	root := &cobra.Command{Use: "caddy", SilenceUsage: true, SilenceErrors: true}
	cmd := &cobra.Command{Use: "robots-guard"}
	New(Config{}).CobraFunc(cmd)
	root.AddCommand(cmd)
	root.SetOut(terminal)
	root.SetErr(terminal)
	root.SetArgs(append([]string{"robots-guard"}, args...))
	_ = root.ExecuteContext(t.Context()) // the terminal shows the error
	fmt.Fprint(terminal, "the end")
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the terminal shows no end")
	}
	return strings.TrimSuffix(strings.ReplaceAll(b.String(), "\r\n", "\n"), "the end")
}

// TestTerminal fits the output to the width of a terminal, and uses colours if the terminal has
// them.
func TestTerminal(t *testing.T) {
	robots := privateRobots(t)
	const long = "/private/" + "a-long-name-of-a-page-that-does-not-fit.html"
	check := []string{"explain", "--brief", "--robots", robots, "--token", "Sogou web spider", "/open", long}
	const red, end = "\x1b[31m", "\x1b[m"
	for _, tc := range []struct {
		name    string
		env     map[string]string
		args    []string
		columns int
		colored bool
	}{
		{"a terminal", nil, check, 60, true},
		{"COLUMNS", map[string]string{"COLUMNS": "72"}, check, 72, true},
		{"COLUMNS is not a number", map[string]string{"COLUMNS": "x"}, check, 60, true},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1"}, check, 60, false},
		{"a dumb one", map[string]string{"TERM": "dumb"}, check, 60, false},
		{"prose", nil, []string{"explain", "--robots", robots, "--token", "GPTBot", "/private/"}, 60, true},
		{"an error", nil, []string{"explain", "--brief", "--robots", robots, "--identity", "spoofed", "/"}, 60, true},
		{"an error in a table", nil, []string{"test", "--robots", robots, "-"}, 60, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, name := range []string{"COLUMNS", "NO_COLOR"} {
				t.Setenv(name, tc.env[name])
			}
			t.Setenv("TERM", "xterm")
			if tc.env["TERM"] != "" {
				t.Setenv("TERM", tc.env["TERM"])
			}
			shown := onTerminal(t, tc.args...)
			if got := strings.Contains(shown, red) && strings.Contains(shown, end); got != tc.colored {
				t.Errorf("coloured: %t, want %t:\n%q", got, tc.colored, shown)
			}
			widest := 0
			for line := range strings.Lines(strings.NewReplacer(red, "", end, "", "\x1b[32m", "").Replace(shown)) {
				if line = strings.TrimSuffix(line, "\n"); !strings.Contains(line, robots) {
					widest = max(widest, len([]rune(line)))
				}
			}
			if widest > tc.columns || widest < tc.columns*2/3 {
				t.Errorf("%d columns wide, want nearly %d:\n%s", widest, tc.columns, shown)
			}
		})
	}
	shown := onTerminal(t, append(check, "--json")...)
	if strings.Count(shown, "\n") != 2 || strings.Contains(shown, "\x1b") || !strings.Contains(shown, long) {
		t.Errorf("JSON on a terminal: %q", shown)
	}
}

// TestNoTerminal writes full lines into a file or pipe, regardless of the environment.
func TestNoTerminal(t *testing.T) {
	t.Setenv("COLUMNS", "20")
	long := "/private/" + strings.Repeat("long", 40)
	output, _ := execute(t.Context(), Config{}, "explain", "--brief", "--robots", privateRobots(t), long)
	if !strings.Contains(output, "disallowed  "+long+"  2 ") || strings.Contains(output, "\x1b") {
		t.Errorf("%q", output)
	}
}
