package publication

import (
	"context"
	"errors"
)

var errFault = errors.New("a fault of the storage")

// faulty is a storage of which one operation, or all from one on, fail.
type faulty struct {
	Storage
	at      int  // which operation fails, counted from 1; 0 for none
	crash   bool // and all that follow
	applied bool // that one is done all the same, and only its answer is lost
	ops     []string
}

// fails notes an operation, and reports whether it is done and whether it fails.
func (f *faulty) fails(op string) (done, fails bool) {
	f.ops = append(f.ops, op)
	n := len(f.ops)
	fails = f.at > 0 && (n == f.at || f.crash && n > f.at)
	return !fails || f.applied && n == f.at, fails
}

func (f *faulty) do(op string, what func() error) error {
	done, fails := f.fails(op)
	var err error
	if done {
		err = what()
	}
	if fails {
		return errFault
	}
	return err
}

func (f *faulty) Lock(ctx context.Context, name string) error {
	return f.do("lock", func() error { return f.Storage.Lock(ctx, name) })
}

func (f *faulty) Unlock(ctx context.Context, name string) error {
	return f.do("unlock", func() error { return f.Storage.Unlock(ctx, name) })
}

func (f *faulty) Store(ctx context.Context, key string, value []byte) error {
	return f.do("store "+key, func() error { return f.Storage.Store(ctx, key, value) })
}

func (f *faulty) Load(ctx context.Context, key string) (data []byte, err error) {
	err = f.do("load "+key, func() (err error) { data, err = f.Storage.Load(ctx, key); return err })
	return data, err
}

func (f *faulty) Delete(ctx context.Context, key string) error {
	return f.do("delete "+key, func() error { return f.Storage.Delete(ctx, key) })
}

func (f *faulty) List(ctx context.Context, directory string, recursive bool) (keys []string, err error) {
	err = f.do("list "+directory, func() (err error) { keys, err = f.Storage.List(ctx, directory, recursive); return err })
	return keys, err
}
