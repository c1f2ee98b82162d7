package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// These are intervals for address lists.
const (
	// refreshInterval is the time between two fetches of a list. Up to 10 % are subtracted.
	refreshInterval = 24 * time.Hour
	// minRetryDelay is the delay after a failure. It doubles with each further failure.
	minRetryDelay = 5 * time.Minute
	maxRetryDelay = 24 * time.Hour // maxRetryDelay is the maximum wait, also for Retry-After.
	// maxDenyAge is the time after a check for which a fetched list can deny clients.
	maxDenyAge = 7 * 24 * time.Hour
	// A list that lost most of its prefixes is accepted after shrinkConfirmTime.
	shrinkConfirmTime  = 48 * time.Hour
	maxConcurrentLoads = 4
)

// addressList is an address list from a file or URL.
type addressList struct {
	source string
	isFile bool

	// active holds the prefixes that requests use, or nil if the list was never loaded.
	active atomic.Pointer[activePrefixes]

	loadMu sync.Mutex // loadMu is locked while the list is loaded.
	mu     sync.Mutex // This mutex guards state.
	state  listState
}

// activePrefixes holds the prefixes of a loaded list. A client whose address is not in the list can be
// denied before deniesUntil. An activePrefixes is immutable.
type activePrefixes struct {
	*prefixTable
	deniesUntil monotime
}

// listState holds the times, validators and errors of the loads of an address list.
type listState struct {
	etag, lastModified       string    // These are from the response in use.
	lastChanged, lastChecked time.Time // These are the times at which the prefixes in use were loaded, and at which the source last confirmed them.
	nextLoad                 time.Time // nextLoad is the time of the next fetch from a URL.
	failures                 int       // failures counts consecutive failures.
	err                      error
	// shrunkSince is the time of the first response without most of the prefixes, or zero.
	shrunkSince time.Time
	fileTime    time.Time
	fileSize    int64
}

// newStatus returns the status of the list. users are the tokens of the crawlers with this list.
func (l *addressList) newStatus(users []string, now monotime) ListStatus {
	active := l.active.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	s := ListStatus{
		Source: l.source, Crawlers: users, Err: l.state.err,
		ChangedAt: l.state.lastChanged, CheckedAt: l.state.lastChecked, NextFetch: l.state.nextLoad, ShrunkSince: l.state.shrunkSince,
		CannotDeny: active == nil || now >= active.deniesUntil,
	}
	if active != nil {
		s.Prefixes = len(active.prefixes)
	}
	return s
}

// loadAndReport calls loadList, and then calls OnList if an attempt was completed.
func (v *Verifier) loadAndReport(ctx context.Context, l *addressList, due func(*addressList) bool) error {
	completed, err := v.loadList(ctx, l, due)
	if completed && v.options.OnList != nil {
		v.options.OnList(l.newStatus(v.activeConfig.Load().crawlersByList[l], v.now()))
	}
	return err
}

// loadList reads or fetches the list if due(l) is true. completed is false if the list was not due
// or ctx ended.
func (v *Verifier) loadList(ctx context.Context, l *addressList, due func(*addressList) bool) (completed bool, _ error) {
	l.loadMu.Lock()
	defer l.loadMu.Unlock()
	if !due(l) {
		return false, nil
	}
	var err error
	if l.isFile {
		err = v.rereadFile(l)
	} else {
		err = v.fetchList(ctx, l)
	}
	if ctx.Err() != nil && err != nil {
		return false, err // The load was cancelled. This is not an error of the list.
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.err = err
	return true, err
}

// isNeverLoaded reports whether a list was never loaded.
func isNeverLoaded(l *addressList) bool { return l.active.Load() == nil }

// isListDue reports whether a list must be loaded: the time of the next fetch has come, or the file
// changed.
func (v *Verifier) isListDue(l *addressList) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isFile {
		return !v.options.Now().Before(l.state.nextLoad)
	}
	info, err := os.Stat(l.source)
	// A deleted file is read once more, to record the error.
	return err != nil && l.state.err == nil || err == nil && (!info.ModTime().Equal(l.state.fileTime) || info.Size() != l.state.fileSize)
}

// loadAll loads all lists for which due is true, and returns their errors.
func (v *Verifier) loadAll(ctx context.Context, due func(*addressList) bool) []error {
	var wait sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	slots := make(chan struct{}, maxConcurrentLoads)
	for _, l := range v.activeConfig.Load().lists {
		if !due(l) {
			continue
		}
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if err := v.loadAndReport(ctx, l, due); err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return errs
}

// setPrefixTable puts newly loaded prefixes of a list into use.
func (v *Verifier) setPrefixTable(l *addressList, t *prefixTable) {
	now := v.options.Now()
	until := maxMonotime
	if !l.isFile {
		until = v.toMonotime(now) + monotime(maxDenyAge)
	}
	l.active.Store(&activePrefixes{t, until})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.lastChanged, l.state.lastChecked, l.state.shrunkSince = now, now, time.Time{}
}

// fileContent is the parsed content of a list file, with the file's modification time and size.
type fileContent struct {
	table *prefixTable
	time  time.Time
	size  int64
}

// readListFile reads and parses a list file.
func readListFile(path string) (c fileContent, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("address list %s: file not found; correct the path", path)
	} else if err != nil {
		return c, fmt.Errorf("address list: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return c, fmt.Errorf("address list: %w", err)
	}
	if !info.Mode().IsRegular() {
		return c, fmt.Errorf("address list: %s is not a regular file", path)
	}
	c.time, c.size = info.ModTime(), info.Size()
	data, err := io.ReadAll(io.LimitReader(file, MaxListBytes+1))
	if err != nil {
		return c, fmt.Errorf("address list: %w", err)
	}
	prefixes, err := ParseRanges(data)
	if err == nil {
		c.table, err = newPrefixTable(prefixes)
	}
	if err != nil {
		return c, fmt.Errorf("address list %s: %w", path, err)
	}
	return c, nil
}

// rereadFile reads a list file again. After an error the prefixes in use stay. The site's owner
// maintains the file, so a file may lose most of its prefixes and can always deny clients.
func (v *Verifier) rereadFile(l *addressList) error {
	content, err := readListFile(l.source)
	if err == nil {
		v.setPrefixTable(l, content.table)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.fileTime, l.state.fileSize = content.time, content.size
	return err
}

// addJitter shortens d by a random amount up to 10 %, so that instances do not fetch at the same
// time.
func addJitter(d time.Duration) time.Duration { return d - rand.N(d/10) }
