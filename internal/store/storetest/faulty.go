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

// ErrFault is the error of a [Faulty] storage.
var ErrFault = errors.New("a fault of the storage")

// Fault is the way in which an operation of a [Faulty] storage fails.
type Fault uint8

const (
	Refused    Fault = iota // The operation has no effect.
	Torn                    // Half of the value is written. Other operations have no effect.
	Unanswered              // The operation succeeds, but returns an error.
	Hangs                   // The operation has no effect and waits until its context ends.
)

// Faults returns a [Faulty] storage for each operation and fault, with and without a crash. Faults
// omits cases with the same effect. ops are the results of [Faulty.Ops].
func Faults(ops []string) (faults []Faulty) {
	for _, op := range ops {
		name, _, _ := strings.Cut(op, " ")
		faults = append(faults, Faulty{FailingOp: op, Fault: Refused}, Faulty{FailingOp: op, Fault: Hangs})
		if name == "load" || name == "list" || name == "stat" {
			continue // A crash here is the same as a crash before the next operation that changes something.
		}
		faults = append(faults, Faulty{FailingOp: op, Fault: Refused, Crash: true}, Faulty{FailingOp: op, Fault: Unanswered}, Faulty{FailingOp: op, Fault: Unanswered, Crash: true})
		if name == "store" {
			faults = append(faults, Faulty{FailingOp: op, Fault: Torn}, Faulty{FailingOp: op, Fault: Torn, Crash: true})
		}
	}
	return faults
}

func (f Fault) String() string { return [...]string{"refused", "torn", "unanswered", "hangs"}[f] }

// Faulty is a storage in which one operation fails. With Crash all later operations fail too, as if
// the process had ended. A test runs once without a fault, and then once for each result of
// [Faults].
type Faulty struct {
	*Storage // The storage may be shared.
	// FailingOp is the failing operation in the form of Ops, or "" for none.
	FailingOp string
	// Fault is the way in which the operation fails.
	Fault Fault
	// Crash makes all later operations fail.
	Crash bool

	mu          sync.Mutex
	ops         []string
	occurrences map[string]int
	storedCount map[string]int // The key is the key of the value.
	crashed     bool
}

// Ops returns the names of the operations so far. A name such as "store a #2" has the key and a
// count from 1. Names of lock and unlock have no key. The set of names does not depend on the order
// of concurrent operations.
func (f *Faulty) Ops() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ops)
}

// WriteCount returns the number of successful writes of a value.
func (f *Faulty) WriteCount(key string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.storedCount[key]
}

// String describes which operation fails, and how.
func (f *Faulty) String() string {
	return fmt.Sprintf("%s: %s, crash: %t", f.FailingOp, f.Fault, f.Crash)
}

// begin records an operation. ok is false if the operation must fail, with the returned fault.
func (f *Faulty) begin(op string) (fault Fault, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.occurrences == nil {
		f.occurrences, f.storedCount = make(map[string]int), make(map[string]int)
	}
	f.occurrences[op]++
	name := fmt.Sprintf("%s #%d", op, f.occurrences[op])
	f.ops = append(f.ops, name)
	switch {
	case name == f.FailingOp:
		f.crashed = f.Crash
		return f.Fault, false
	case f.crashed:
		return Refused, false
	}
	return 0, true
}

// run performs an operation or its fault. complete performs the whole operation. partial performs
// half of a write, or is nil.
func (f *Faulty) run(ctx context.Context, op string, complete, partial func() error) error {
	fault, ok := f.begin(op)
	switch {
	case ok:
		return complete()
	case fault == Unanswered:
		_ = complete()
	case fault == Torn && partial != nil:
		_ = partial()
	case fault == Hangs:
		<-ctx.Done()
		return ctx.Err()
	}
	return ErrFault
}

// Lock locks a name, or fails.
func (f *Faulty) Lock(ctx context.Context, name string) error {
	return f.run(ctx, "lock", func() error { return f.Storage.Lock(ctx, name) }, nil)
}

// Unlock releases the lock of a name, or fails.
func (f *Faulty) Unlock(ctx context.Context, name string) error {
	return f.run(ctx, "unlock", func() error { return f.Storage.Unlock(ctx, name) }, nil)
}

// Store writes a value, or fails.
func (f *Faulty) Store(ctx context.Context, key string, value []byte) error {
	err := f.run(ctx, "store "+key,
		func() error { return f.Storage.Store(ctx, key, value) },
		func() error { return f.Storage.Store(ctx, key, value[:len(value)/2]) })
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.storedCount[key]++
	}
	return err
}

// Load returns a value, or fails.
func (f *Faulty) Load(ctx context.Context, key string) (value []byte, err error) {
	err = f.run(ctx, "load "+key, func() (err error) { value, err = f.Storage.Load(ctx, key); return err }, nil)
	return value, err
}

// Delete removes a value, or fails.
func (f *Faulty) Delete(ctx context.Context, key string) error {
	return f.run(ctx, "delete "+key, func() error { return f.Storage.Delete(ctx, key) }, nil)
}

// List returns the keys in a directory, or fails.
func (f *Faulty) List(ctx context.Context, directory string, recursive bool) (keys []string, err error) {
	err = f.run(ctx, "list "+directory, func() (err error) { keys, err = f.Storage.List(ctx, directory, recursive); return err }, nil)
	return keys, err
}

// Stat returns the size and the modification time of a value, or fails.
func (f *Faulty) Stat(ctx context.Context, key string) (size int64, modified time.Time, err error) {
	err = f.run(ctx, "stat "+key, func() (err error) { size, modified, err = f.Storage.Stat(ctx, key); return err }, nil)
	return size, modified, err
}
