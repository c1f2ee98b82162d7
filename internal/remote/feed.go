package remote

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"time"
)

// Feed fetches a file or a URL regularly and keeps the last good content. A Feed can outlive a
// configuration, and refers to configurations only through its users. Its methods are safe for
// concurrent use.
type Feed[T any] struct {
	FeedConfig[T]

	fetching chan struct{} // This is a semaphore of size one for fetches and calls of AfterFetch.

	mu         sync.Mutex // This mutex guards the fields below.
	users      []User[T]
	lastConfig any // lastConfig is the last loaded configuration.
	state      FeedState[T]
	hash       [sha256.Size]byte // hash is the hash of the content in use.
	invalidErr error             // invalidErr is the error in the last response, or nil.
	isLogged   bool              // isLogged is true if LastErr was reported to a user.
	failures   int               // failures counts consecutive failures.
	nextFetch  time.Time
}

// FeedConfig configures a Feed.
type FeedConfig[T any] struct {
	Source Source
	Now    func() time.Time
	// Interval is the time between fetches. Zero selects the freshness lifetime of the response,
	// or for a file [FileCheckInterval].
	Interval time.Duration
	// Parse parses fetched content. Parse may compare the result with inUse, the content in use, and
	// return an error. inUse is nil in the first fetch while a configuration is loaded.
	Parse func(data []byte, inUse *T) (*T, error)
	// AfterFetch, if not nil, is called by [Feed.Run] after each fetch, and at least once a minute.
	AfterFetch func(context.Context)
}

// User is a configuration that uses a Feed. The feed calls Replaced, Failed and Recovered only for
// the first user, to avoid duplicate log messages.
type User[T any] interface {
	// Changed is called after the content may have changed. Changed must not wait for the feed.
	Changed()
	// Replaced is called after new content was put into use. previous is the content before, or
	// nil.
	Replaced(previous, current *T)
	// Failed is called after a failed fetch. inUse is the last good content, or nil. isFirst
	// reports whether Failed was not yet called for this series of failures.
	Failed(err error, inUse *T, isFirst bool)
	// Recovered is called after the first successful fetch since a reported failure.
	Recovered()
}

// FeedState is the content of a Feed and the result of its last fetch.
type FeedState[T any] struct {
	Content      *T          // Content is the last good content, or nil.
	LastResult   FetchResult // LastResult is the result of the last fetch with a response, without its data.
	LastErr      error       // LastErr is the error of the last fetch, or nil.
	FailingSince time.Time   // FailingSince is the time of the first failure since the last success, or zero.
	ConfirmedAt  time.Time   // ConfirmedAt is the last time at which the content in use was current.
}

// NewFeed returns a Feed. NewFeed fetches nothing.
func NewFeed[T any](c FeedConfig[T]) *Feed[T] {
	return &Feed[T]{FeedConfig: c, fetching: make(chan struct{}, 1)}
}

// Name returns the path of the file or the URL without its password, for messages.
func (f *Feed[T]) Name() string { return f.Source.Name() }

// IsFile reports whether the source is a file.
func (f *Feed[T]) IsFile() bool { return !f.Source.IsURL() }

// State returns the current state.
func (f *Feed[T]) State() FeedState[T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

// Content returns the last good content, or nil.
func (f *Feed[T]) Content() *T { return f.State().Content }

// LastError returns the error of the last fetch, or nil.
func (f *Feed[T]) LastError() error { return f.State().LastErr }

// IsLastResponseInvalid reports whether the last fetch returned content that Parse rejected, or
// reported that rejected content is unchanged.
func (f *Feed[T]) IsLastResponseInvalid() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.invalidErr != nil && f.state.LastErr == f.invalidErr
}

// FirstUser returns the first user, or nil.
func (f *Feed[T]) FirstUser() User[T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.firstUser()
}

// firstUser returns the first user, or nil. The caller must lock f.mu.
func (f *Feed[T]) firstUser() User[T] {
	if len(f.users) == 0 {
		return nil
	}
	return f.users[0]
}

// AddUser adds a user until release is called. If the last fetch failed and
// [User.Failed] was not yet called, AddUser calls it. Users must be comparable.
func (f *Feed[T]) AddUser(u User[T]) (release func()) {
	f.mu.Lock()
	f.users = append(f.users, u)
	isUnreported := f.state.LastErr != nil && !f.isLogged
	report := f.prepareFailureReport()
	f.mu.Unlock()
	if isUnreported {
		report()
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if i := slices.Index(f.users, u); i >= 0 {
			f.users = slices.Delete(slices.Clone(f.users), i, i+1)
		}
	}
}

// Load fetches the content for a new configuration, once for each configuration. config identifies
// the configuration and must be comparable. Load calls before, if not nil, and then fetches. Load
// returns when ctx ends, even if another fetch runs.
func (f *Feed[T]) Load(ctx context.Context, config any, before func()) {
	f.mu.Lock()
	isLoaded := f.lastConfig == config
	f.lastConfig = config
	f.mu.Unlock()
	if isLoaded {
		return
	}
	select {
	case f.fetching <- struct{}{}:
		defer func() { <-f.fetching }()
	case <-ctx.Done():
		return
	}
	if before != nil {
		before()
	}
	f.fetchContent(ctx, true)
}

// Run fetches the content whenever a fetch is due, until ctx ends.
func (f *Feed[T]) Run(ctx context.Context) {
	RunPeriodically(ctx, func(ctx context.Context) time.Duration {
		f.fetching <- struct{}{}
		defer func() { <-f.fetching }()
		if f.TimeUntilNextFetch() <= 0 {
			f.fetchContent(ctx, false)
		}
		if f.AfterFetch != nil {
			f.AfterFetch(ctx)
		}
		return f.TimeUntilNextFetch()
	})
}

// TimeUntilNextFetch returns the time until the next fetch is due. The result is negative for an
// overdue fetch.
func (f *Feed[T]) TimeUntilNextFetch() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nextFetch.Sub(f.Now())
}

// Restore puts stored content into use. confirmed is the time when the stored content was last up
// to date. validators are the ETag and Last-Modified of the response with the content. Only
// AfterFetch and the before function of Load may call Restore.
func (f *Feed[T]) Restore(content *T, hash [sha256.Size]byte, confirmed time.Time, validators FetchResult) {
	f.mu.Lock()
	f.state.ConfirmedAt = confirmed
	if f.invalidErr == nil { // Otherwise LastResult has the validators of an invalid response, which must remain.
		f.state.LastResult = validators
	}
	f.mu.Unlock()
	f.replaceContent(content, hash)
}

// fetchContent fetches the content and records the result. isConfigLoad reports whether a configuration is
// being loaded. The caller must acquire f.fetching.
func (f *Feed[T]) fetchContent(ctx context.Context, isConfigLoad bool) {
	f.mu.Lock()
	previous, inUse := f.state.LastResult, f.state.Content
	if isConfigLoad {
		inUse = nil
		if f.invalidErr != nil {
			previous = FetchResult{} // Without validators, a rejected version is fetched again too.
		}
	}
	f.mu.Unlock()
	answer, err := f.Source.Read(ctx, previous)
	if err != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return // The end of ctx is not a failure of the source.
	}
	var content *T
	if err == nil && !answer.IsUnchanged {
		content, err = f.Parse(answer.Data, inUse)
	}
	f.recordResult(answer, content, err)
}

// recordResult records the result of a fetch and sets the time of the next fetch. content is the
// parsed content, or nil if the fetch failed or the content is unchanged or invalid.
func (f *Feed[T]) recordResult(answer FetchResult, content *T, err error) {
	f.mu.Lock()
	lifetime := answer.Lifetime
	if f.Interval > 0 && (err == nil || answer.Data != nil) {
		lifetime = f.Interval
	}
	if answer.Data != nil || answer.IsUnchanged {
		f.state.LastResult = answer
		f.state.LastResult.Data = nil
	}
	if answer.Data != nil {
		f.invalidErr = err
	}
	if err != nil {
		f.recordFailure(err, lifetime)
		return
	}
	f.nextFetch = f.Now().Add(Jitter(lifetime))
	if answer.IsUnchanged && f.invalidErr != nil {
		f.state.LastErr = f.invalidErr
		f.mu.Unlock()
		return
	}
	f.recordSuccess(answer, content)
}

// recordSuccess records a successful fetch. The caller must lock f.mu, which recordSuccess unlocks.
func (f *Feed[T]) recordSuccess(answer FetchResult, content *T) {
	user, wasLogged := f.firstUser(), f.isLogged
	f.state.ConfirmedAt = f.Now()
	f.state.LastErr, f.failures, f.isLogged = nil, 0, false
	hash := sha256.Sum256(answer.Data)
	isNew := content != nil && (f.state.Content == nil || hash != f.hash)
	f.mu.Unlock()
	if user != nil && wasLogged {
		user.Recovered()
	}
	if isNew {
		f.replaceContent(content, hash)
	}
}

// recordFailure records the error of a fetch and reports the failure. wait is the wait
// that the source asks for. The caller must lock f.mu, which recordFailure unlocks.
func (f *Feed[T]) recordFailure(err error, wait time.Duration) {
	now := f.Now()
	if f.state.LastErr == nil {
		f.state.FailingSince = now
	}
	f.state.LastErr = err
	if f.Source.IsURL() {
		wait = RetryDelay(f.failures, wait)
	}
	f.failures++
	f.nextFetch = now.Add(Jitter(max(wait, FileCheckInterval)))
	report := f.prepareFailureReport()
	f.mu.Unlock()
	report()
}

// prepareFailureReport returns a function that calls Failed of the first user with the last error.
// The caller must lock f.mu for prepareFailureReport, and unlock f.mu before the returned function.
func (f *Feed[T]) prepareFailureReport() func() {
	user, err, inUse, isFirst := f.firstUser(), f.state.LastErr, f.state.Content, !f.isLogged
	if user == nil {
		return func() {}
	}
	f.isLogged = err != nil
	return func() { user.Failed(err, inUse, isFirst) }
}

// replaceContent puts content into use and calls Replaced and Changed of the users. The caller must
// acquire f.fetching.
func (f *Feed[T]) replaceContent(content *T, hash [sha256.Size]byte) {
	f.mu.Lock()
	previous := f.state.Content
	f.state.Content, f.hash = content, hash
	users := slices.Clone(f.users)
	f.mu.Unlock()
	if len(users) > 0 {
		users[0].Replaced(previous, content)
	}
	for _, u := range users {
		u.Changed()
	}
}
