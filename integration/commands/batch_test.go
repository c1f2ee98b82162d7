package commands

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// stream writes lines to a command. It returns the number of output lines and the peak
// memory, and checks every output line with right.
func stream(t *testing.T, args []string, lines int, write func(w *bufio.Writer, i int), right func(line []byte, i int) bool) (printed int, memory int64) {
	t.Helper()
	cmd := exec.Command(harness.Binary(t), append([]string{"robots-guard"}, args...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		w := bufio.NewWriterSize(in, 1<<16)
		for i := range lines {
			write(w, i)
		}
		_ = w.Flush() // fails if the command has exited, which is checked below
		_ = in.Close()
	}()
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, 1<<22)
	for scanner.Scan() {
		if !right(scanner.Bytes(), printed) {
			t.Errorf("response to line %d: %.300s", printed+1, scanner.Bytes())
			break
		}
		printed++
	}
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	memory, _ = harness.MaxRSS(cmd.ProcessState)
	return printed, memory
}

// mostMemory is the memory limit of a stream. The program itself needs some 60 MiB, and
// the garbage collector frees memory late.
const mostMemory = 200 << 20

func TestCheckBatchStreams(t *testing.T) {
	t.Parallel()
	lines := 40_000
	if harness.Long() {
		lines = 1_000_000
	}
	printed, memory := stream(t, []string{"explain", "--batch"}, lines,
		func(w *bufio.Writer, i int) {
			fmt.Fprintf(w, `{"id":%d,"robots":"User-agent: *\nDisallow: /private/%d","token":"x","url":"/private/%d"}`+"\n", i, i%3, i%2)
		},
		func(line []byte, i int) bool {
			return bytes.HasPrefix(line, fmt.Appendf(nil, `{"id":%d,"allowed":%t,`, i, i%3 != i%2))
		})
	if printed != lines {
		t.Errorf("%d answers, want %d", printed, lines)
	}
	if memory > mostMemory {
		t.Errorf("used %d MiB", memory>>20)
	}
	t.Logf("%d MiB", memory>>20)
}

// TestCommandsAnswerAtOnce sends a line only after the response to the previous one.
func TestCommandsAnswerAtOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args       []string
		line, want string
	}{
		{[]string{"identify"}, "curl/8", "curl\tlibrary"},
		{[]string{"identify", "--json"}, "curl/8", `{"user_agent":"curl/8"`},
		{[]string{"explain", "--batch"}, `{"id":1,"robots":"","url":"/"}`, `{"id":1,"allowed":true`},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(harness.Binary(t), append([]string{"robots-guard"}, tc.args...)...)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			late := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
			defer late.Stop()
			lines := bufio.NewReader(out)
			for range 3 {
				fmt.Fprintln(in, tc.line)
				got, err := lines.ReadString('\n')
				if err != nil || !strings.HasPrefix(got, tc.want) {
					t.Fatalf("got %q, %v", got, err)
				}
			}
			_ = in.Close()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}
