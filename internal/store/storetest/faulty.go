package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrFault is what a [Faulty] storage says.
var ErrFault = errors.New("a fault of the storage")

// A Fault is what becomes of an operation of a [Faulty] storage.
type Fault uint8

const (
	Refused    Fault = iota // it is not done
	Torn                    // of a value one half is written; what is no value is not done
	Unanswered              // it is done, and its answer is lost
	Hangs                   // it is not done, and waits for the end of its context
)

// Faults returns what a [Faulty] storage is to be told so that each operation has each
// fault once: those that differ, alone and with all that come later.
func Faults(ops []string) (all []Faulty) {
	for _, op := range ops {
		name, _, _ := strings.Cut(op, " ")
		all = append(all, Faulty{At: op, Fault: Refused}, Faulty{At: op, Fault: Hangs})
		if name == "load" || name == "list" || name == "stat" {
			continue // to crash there is to crash before the next that leaves something behind
		}
		all = append(all, Faulty{At: op, Fault: Refused, Crash: true}, Faulty{At: op, Fault: Unanswered}, Faulty{At: op, Fault: Unanswered, Crash: true})
		if name == "store" {
			all = append(all, Faulty{At: op, Fault: Torn}, Faulty{At: op, Fault: Torn, Crash: true})
		}
	}
	return all
}

func (f Fault) String() string { return [...]string{"refused", "torn", "unanswered", "hangs"}[f] }

// Faulty is a storage of which one operation has a fault, or that one and all that
// come after it, as when the process ends there. A test runs something once without a
// fault, and then once for each of [Faults].
type Faulty struct {
	*Storage // may be shared
	// At is the operation as Ops names it, "" for none.
	At string
	// Fault is what becomes of it.
	Fault Fault
	// Crash lets all that begin later be refused.
	Crash bool

	mu      sync.Mutex
	ops     []string
	times   map[string]int
	stored  map[string]int // by key
	crashed bool
}

// Ops returns what was done up to now: each operation with its key, and how often it was
// done before, so that it is the same where several are done at once.
func (f *Faulty) Ops() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ops)
}

// Stored returns how often a value was written without a fault.
func (f *Faulty) Stored(key string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stored[key]
}

// String says what the fault is.
func (f *Faulty) String() string { return fmt.Sprintf("%s: %s, crash: %t", f.At, f.Fault, f.Crash) }

// begin notes an operation, and returns what becomes of it. ok is false if it has a fault.
func (f *Faulty) begin(op string) (fault Fault, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.times == nil {
		f.times, f.stored = make(map[string]int), make(map[string]int)
	}
	f.times[op]++
	name := fmt.Sprintf("%s #%d", op, f.times[op])
	f.ops = append(f.ops, name)
	switch {
	case name == f.At:
		f.crashed = f.Crash
		return f.Fault, false
	case f.crashed:
		return Refused, false
	}
	return 0, true
}

// do does an operation, if it is to be done, and half of it, if there is such a thing.
func (f *Faulty) do(ctx context.Context, op string, whole, half func() error) error {
	fault, ok := f.begin(op)
	switch {
	case ok:
		return whole()
	case fault == Unanswered:
		_ = whole()
	case fault == Torn && half != nil:
		_ = half()
	case fault == Hangs:
		<-ctx.Done()
		return ctx.Err()
	}
	return ErrFault
}

// Lock implements a storage.
func (f *Faulty) Lock(ctx context.Context, name string) error {
	return f.do(ctx, "lock", func() error { return f.Storage.Lock(ctx, name) }, nil)
}

// Unlock implements a storage.
func (f *Faulty) Unlock(ctx context.Context, name string) error {
	return f.do(ctx, "unlock", func() error { return f.Storage.Unlock(ctx, name) }, nil)
}

// Store implements a storage.
func (f *Faulty) Store(ctx context.Context, key string, value []byte) error {
	err := f.do(ctx, "store "+key,
		func() error { return f.Storage.Store(ctx, key, value) },
		func() error { return f.Storage.Store(ctx, key, value[:len(value)/2]) })
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.stored[key]++
	}
	return err
}

// Load implements a storage.
func (f *Faulty) Load(ctx context.Context, key string) (value []byte, err error) {
	err = f.do(ctx, "load "+key, func() (err error) { value, err = f.Storage.Load(ctx, key); return err }, nil)
	return value, err
}

// Delete implements a storage.
func (f *Faulty) Delete(ctx context.Context, key string) error {
	return f.do(ctx, "delete "+key, func() error { return f.Storage.Delete(ctx, key) }, nil)
}

// List implements a storage.
func (f *Faulty) List(ctx context.Context, directory string, recursive bool) (keys []string, err error) {
	err = f.do(ctx, "list "+directory, func() (err error) { keys, err = f.Storage.List(ctx, directory, recursive); return err }, nil)
	return keys, err
}

// Stat implements a storage.
func (f *Faulty) Stat(ctx context.Context, key string) (size int64, modified time.Time, err error) {
	err = f.do(ctx, "stat "+key, func() (err error) { size, modified, err = f.Storage.Stat(ctx, key); return err }, nil)
	return size, modified, err
}
