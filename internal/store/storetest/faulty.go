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

// A Fault is the way in which an operation of a [Faulty] storage fails.
type Fault uint8

const (
	Refused    Fault = iota // the operation has no effect
	Torn                    // half of the value is written; other operations have no effect
	Unanswered              // the operation succeeds, but returns an error
	Hangs                   // the operation has no effect and waits until its context ends
)

// Faults returns one [Faulty] storage per operation and fault, with and without a crash. Cases with
// the same effect are omitted.
func Faults(ops []string) (faults []Faulty) {
	for _, op := range ops {
		name, _, _ := strings.Cut(op, " ")
		faults = append(faults, Faulty{FailingOp: op, Fault: Refused}, Faulty{FailingOp: op, Fault: Hangs})
		if name == "load" || name == "list" || name == "stat" {
			continue // same as a crash before the next operation with an effect
		}
		faults = append(faults, Faulty{FailingOp: op, Fault: Refused, Crash: true}, Faulty{FailingOp: op, Fault: Unanswered}, Faulty{FailingOp: op, Fault: Unanswered, Crash: true})
		if name == "store" {
			faults = append(faults, Faulty{FailingOp: op, Fault: Torn}, Faulty{FailingOp: op, Fault: Torn, Crash: true})
		}
	}
	return faults
}

func (f Fault) String() string { return [...]string{"refused", "torn", "unanswered", "hangs"}[f] }

// Faulty is a storage with a failing operation. With Crash all later operations fail too, as if the
// process had ended. A test runs once without a fault, and then once for each result of [Faults].
type Faulty struct {
	*Storage // may be shared
	// FailingOp is the failing operation in the form of Ops, or "" for none.
	FailingOp string
	// Fault is the way in which the operation fails.
	Fault Fault
	// Crash makes all later operations fail.
	Crash bool

	mu          sync.Mutex
	ops         []string
	occurrences map[string]int
	storedCount map[string]int // by key
	crashed     bool
}

// Ops returns the operations so far. The name of an operation has the key and the number of earlier
// occurrences, and does not depend on the order of concurrent operations.
func (f *Faulty) Ops() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ops)
}

// Stored returns the number of successful writes of a value.
func (f *Faulty) Stored(key string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.storedCount[key]
}

// String describes the fault.
func (f *Faulty) String() string {
	return fmt.Sprintf("%s: %s, crash: %t", f.FailingOp, f.Fault, f.Crash)
}

// begin records an operation and returns its fault. ok is false if the operation fails.
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

// do runs whole, or half if the operation is torn. half may be nil.
func (f *Faulty) do(ctx context.Context, op string, complete, partial func() error) error {
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
		f.storedCount[key]++
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
