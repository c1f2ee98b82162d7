package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// How lists are kept up to date.
const (
	refreshEvery  = 24 * time.Hour     // of a list that is fetched, less up to a tenth
	retryFirst    = 5 * time.Minute    // after a failure, doubled with each further one
	retryMost     = 24 * time.Hour     // between attempts, whatever a server asks for
	denyFor       = 7 * 24 * time.Hour // after a check: how long a fetched list may deny claims
	believeShrunk = 48 * time.Hour     // a list that lost most of its prefixes is believed if it says so for so long
	loadsAtOnce   = 4
)

// list is a list of addresses, of a file or a URL.
type list struct {
	source string
	isFile bool

	// loaded is what requests look at; nil if the list was never loaded.
	loaded atomic.Pointer[loaded]

	loading sync.Mutex // held while the list is being loaded
	mu      sync.Mutex // guards what follows
	state   listState
}

// loaded is a list in use. It is immutable.
type loaded struct {
	*table
	deniesUntil moment
}

// listState is what is known about a list beside its prefixes.
type listState struct {
	etag, lastModified string    // of the answer in use
	changed, checked   time.Time // see ListStatus
	next               time.Time // of a URL: when to fetch
	failures           int       // in a row
	err                error
	shrunkSince        time.Time // when it was first seen without most of its prefixes; zero if it has them
	fileTime           time.Time
	fileSize           int64
}

func (l *list) status(users []string, now moment) ListStatus {
	loaded := l.loaded.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	s := ListStatus{
		Source: l.source, For: users, Err: l.state.err,
		Changed: l.state.changed, Checked: l.state.checked, Next: l.state.next, ShrunkSince: l.state.shrunkSince,
		Stale: loaded == nil || now >= loaded.deniesUntil,
	}
	if loaded != nil {
		s.Prefixes = len(loaded.prefixes)
	}
	return s
}

// load loads the list if due says so, and tells the owner.
func (v *Verifier) load(ctx context.Context, l *list, due func(*list) bool) error {
	loaded, err := v.loadNow(ctx, l, due)
	if loaded && v.options.OnList != nil {
		v.options.OnList(l.status(v.setup.Load().users[l], v.now()))
	}
	return err
}

// loadNow loads the list if due says so, and reports whether it came to an end.
func (v *Verifier) loadNow(ctx context.Context, l *list, due func(*list) bool) (bool, error) {
	l.loading.Lock()
	defer l.loading.Unlock()
	if !due(l) {
		return false, nil
	}
	var err error
	if l.isFile {
		err = v.reread(l)
	} else {
		err = v.fetch(ctx, l)
	}
	if ctx.Err() != nil && err != nil {
		return false, err // says nothing about the list
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.err = err
	return true, err
}

// isMissing reports whether a list has not been loaded.
func isMissing(l *list) bool { return l.loaded.Load() == nil }

// isDue reports whether a list is to be loaded now.
func (v *Verifier) isDue(l *list) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isFile {
		return !v.options.Now().Before(l.state.next)
	}
	info, err := os.Stat(l.source)
	// One that is gone is read once more, for the error.
	return err != nil && l.state.err == nil || err == nil && (!info.ModTime().Equal(l.state.fileTime) || info.Size() != l.state.fileSize)
}

// loadAll loads the lists that are due.
func (v *Verifier) loadAll(ctx context.Context, due func(*list) bool) []error {
	var wait sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	slots := make(chan struct{}, loadsAtOnce)
	for _, l := range v.setup.Load().lists {
		if !due(l) {
			continue
		}
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if err := v.load(ctx, l, due); err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return errs
}

// use puts a table that was just loaded into use.
func (v *Verifier) use(l *list, t *table) {
	now := v.options.Now()
	until := forever
	if !l.isFile {
		until = v.at(now) + moment(denyFor)
	}
	l.loaded.Store(&loaded{t, until})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.changed, l.state.checked, l.state.shrunkSince = now, now, time.Time{}
}

// someAddress returns an address that one of the lists has, by chance, of the
// family of like if it can be; not valid if they have none.
func someAddress(lists []*list, like netip.Addr) (addr netip.Addr) {
	for range 8 * len(lists) {
		loaded := lists[rand.N(len(lists))].loaded.Load()
		if loaded == nil {
			continue
		}
		p := loaded.prefixes[rand.N(len(loaded.prefixes))]
		if addr.IsValid() && p.Addr().Is4() != like.Is4() {
			continue
		}
		bytes := p.Addr().AsSlice()
		for i := range bytes { // the bits beyond the prefix
			bytes[i] |= byte(rand.Uint32()) & (0xff >> min(max(p.Bits()-8*i, 0), 8))
		}
		if addr, _ = netip.AddrFromSlice(bytes); addr.Is4() == like.Is4() {
			return addr
		}
	}
	return addr
}

// fileContent is what was read from a file.
type fileContent struct {
	table *table
	time  time.Time
	size  int64
}

func readFile(path string) (c fileContent, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("list of addresses %s: there is no such file; correct the path", path)
	} else if err != nil {
		return c, fmt.Errorf("list of addresses: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return c, fmt.Errorf("list of addresses: %w", err)
	}
	if !info.Mode().IsRegular() {
		return c, fmt.Errorf("list of addresses: %s is no file", path)
	}
	c.time, c.size = info.ModTime(), info.Size()
	data, err := io.ReadAll(io.LimitReader(file, MaxListBytes+1))
	if err != nil {
		return c, fmt.Errorf("list of addresses: %w", err)
	}
	prefixes, err := ParseRanges(data)
	if err == nil {
		c.table, err = newTable(prefixes)
	}
	if err != nil {
		return c, fmt.Errorf("list of addresses %s: %w", path, err)
	}
	return c, nil
}

// reread reads a file again. If it cannot be used, what was read before stays in
// use. A file is the owner's: it may shrink, and is as current as he keeps it.
func (v *Verifier) reread(l *list) error {
	content, err := readFile(l.source)
	if err == nil {
		v.use(l, content.table)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.fileTime, l.state.fileSize = content.time, content.size
	return err
}

// jitter returns d less up to a tenth, so that not everybody comes at once.
func jitter(d time.Duration) time.Duration { return d - rand.N(d/10) }
