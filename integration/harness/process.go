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

// Patience is how long is waited for what has to come. It costs time only where
// something is broken.
const Patience = time.Minute

// Process is a program that runs.
type Process struct {
	Logs *Buffer // what it writes to standard error, and to standard output where nobody else takes it
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// Launch starts a program that nobody stops but the caller. What the command
// has no place for goes to the logs.
func Launch(cmd *exec.Cmd) (*Process, error) { return LaunchBy(cmd, cmd.Start) }

// LaunchBy is Launch with another way to start the command.
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
		_ = cmd.Wait() // the state is in ProcessState
		close(p.done)
	}()
	return p, nil
}

// Attend starts a program and returns once all addresses (host:port) accept
// connections. When the test ends it is killed, and its log shown if the test
// failed.
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

// attendAt waits for addresses.
func (p *Process) attendAt(t testing.TB, addresses []string) {
	t.Helper()
	for _, address := range addresses {
		if err := p.Listens(address, Patience); err != nil {
			t.Fatal(err)
		}
	}
}

// show logs the end of the program's log if the test failed.
func (p *Process) show(t testing.TB) {
	t.Helper()
	if t.Failed() {
		t.Logf("log of %s:\n%s", filepath.Base(p.cmd.Path), Tail(p.Logs.String(), 8000))
	}
}

// Listens waits until something accepts connections at an address.
func (p *Process) Listens(address string, within time.Duration) error {
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		select {
		case <-p.done:
			return fmt.Errorf("%s ended: %v", filepath.Base(p.cmd.Path), p.cmd.ProcessState)
		default:
		}
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.Close()
			return nil
		}
	}
	return fmt.Errorf("nothing listens on %s", address)
}

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// EndsWithin reports whether the program ends within a time.
func (p *Process) EndsWithin(most time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(most):
		return false
	}
}

// ID is the number of the process.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// State tells how a program ended, once it has.
func (p *Process) State() *os.ProcessState { return p.cmd.ProcessState }

// Interrupt asks the program to end and waits until it has. If that takes
// longer it is killed, which is an error.
func (p *Process) Interrupt(within time.Duration) error {
	_ = p.cmd.Process.Signal(os.Interrupt) // fails if it has ended already
	if p.EndsWithin(within) {
		return nil
	}
	p.Kill()
	return fmt.Errorf("%s did not stop within %v", filepath.Base(p.cmd.Path), within)
}

// Kill ends the program as a power failure would.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // fails if it has ended already
	<-p.done
}

// Eventually waits until a condition holds. It checks the condition less often the
// longer it waits, since most conditions are requests, which cost processor time.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	pause := 5 * time.Millisecond
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); time.Sleep(pause) {
		if holds() {
			return
		}
		pause = min(pause*5/4, 250*time.Millisecond)
	}
	t.Fatalf("it never happened: %s", what)
}

// Buffer is a [bytes.Buffer] for several goroutines.
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

// String returns what was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Tail returns the last bytes of a text.
func Tail(s string, most int) string {
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}
