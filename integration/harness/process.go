package harness

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Patience is the timeout of all waits. Only a failing test waits that long.
const Patience = time.Minute

// Process is a running program.
type Process struct {
	Logs *Buffer // standard error, and standard output unless the command redirects it
	cmd  *exec.Cmd
	done chan struct{} // closed when the program has exited
}

// Launch starts a program. The caller has to stop it. Outputs that the command does not
// redirect go to Logs.
func Launch(cmd *exec.Cmd) (*Process, error) { return LaunchBy(cmd, cmd.Start) }

// LaunchBy is like Launch, and starts the command with begin.
func LaunchBy(cmd *exec.Cmd, begin func() error) (*Process, error) {
	p := &Process{Logs: new(Buffer), cmd: cmd, done: make(chan struct{})}
	if cmd.Stderr == nil {
		cmd.Stderr = p.Logs
	}
	if cmd.Stdout == nil {
		cmd.Stdout = p.Logs
	}
	if err := begin(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // ProcessState holds the result
		close(p.done)
	}()
	return p, nil
}

// Attend starts a program and returns once all addresses (host:port) accept
// connections. At the end of the test it kills the program, and logs its output if the
// test failed.
func Attend(t testing.TB, cmd *exec.Cmd, addresses ...string) *Process {
	t.Helper()
	p, err := Launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		p.show(t)
	})
	p.attendAt(t, addresses)
	return p
}

// attendAt waits until all addresses accept connections.
func (p *Process) attendAt(t testing.TB, addresses []string) {
	t.Helper()
	for _, address := range addresses {
		if err := p.Listens(address, Patience); err != nil {
			t.Fatal(err)
		}
	}
}

// show logs the end of the program's output if the test failed.
func (p *Process) show(t testing.TB) {
	t.Helper()
	if t.Failed() {
		t.Logf("log of %s:\n%s", filepath.Base(p.cmd.Path), Tail(p.Logs.String(), 8000))
	}
}

// Listens waits until an address accepts connections.
func (p *Process) Listens(address string, within time.Duration) error {
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		select {
		case <-p.done:
			return fmt.Errorf("%s exited: %v", filepath.Base(p.cmd.Path), p.cmd.ProcessState)
		default:
		}
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.Close()
			return nil
		}
	}
	return fmt.Errorf("nothing listens on %s", address)
}

// Done returns a channel that is closed when the program has exited.
func (p *Process) Done() <-chan struct{} { return p.done }

// EndsWithin waits for the program to exit. It reports whether that happened within
// most.
func (p *Process) EndsWithin(most time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(most):
		return false
	}
}

// ID returns the process ID.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// State returns the state of an exited program.
func (p *Process) State() *os.ProcessState { return p.cmd.ProcessState }

// Interrupt sends an interrupt and waits until the program has exited. After the
// timeout it kills the program and returns an error.
func (p *Process) Interrupt(within time.Duration) error {
	_ = p.cmd.Process.Signal(os.Interrupt) // fails if the program has exited already
	if p.EndsWithin(within) {
		return nil
	}
	p.Kill()
	return fmt.Errorf("%s did not stop within %v", filepath.Base(p.cmd.Path), within)
}

// Kill kills the program without giving it a chance to clean up.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // fails if the program has exited already
	<-p.done
}

// Eventually waits until a condition holds. Its checks become less frequent, because
// most conditions make requests, which cost CPU time.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	pause := 5 * time.Millisecond
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); time.Sleep(pause) {
		if holds() {
			return
		}
		pause = min(pause*5/4, 250*time.Millisecond)
	}
	t.Fatalf("timeout while waiting for: %s", what)
}

// Buffer is a [bytes.Buffer] that is safe for concurrent use.
type Buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements [io.Writer].
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String returns the content of the buffer.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Tail returns the last most bytes of s.
func Tail(s string, most int) string {
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}
