package botauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/limit"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// These are the well-known URI and the media type of a key directory.
const (
	directoryPath = "/.well-known/http-message-signatures-directory"
	directoryType = "application/http-message-signatures-directory+json"
)

// These are bounds on fetches.
const (
	// maxFetches is the maximum number of concurrent fetches, without those of Refresh.
	maxFetches   = 4
	fetchTimeout = 10 * time.Second
	minFresh     = 5 * time.Minute
	maxFresh     = 24 * time.Hour
	// maxStale is the maximum time for which an old directory is used after failures.
	maxStale      = 24 * time.Hour
	minBackOff    = 15 * time.Second // minBackOff is the wait after the first failure.
	maxBackOff    = 5 * time.Minute  // maxBackOff is the limit of the draft for the memory of failures.
	maxRetryAfter = 24 * time.Hour
)

// freshness is the default and the bounds of the freshness lifetime.
var freshness = policy.FreshnessPolicy{Default: time.Hour, Min: minFresh, Max: maxFresh}

// newDirectoryClient returns a client with the transport of base, or with a default transport for a
// nil base. The client follows no redirects and stores no cookies.
func newDirectoryClient(base *http.Client) *http.Client {
	client := http.Client{Transport: &http.Transport{
		TLSHandshakeTimeout:    fetchTimeout,
		DisableKeepAlives:      true, // An agent sends about one request an hour.
		MaxResponseHeaderBytes: 64 << 10,
	}}
	if base != nil {
		client.Transport = base.Transport
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// fetchIfDue starts to fetch the directory of an agent, if the fetch is due and none is running.
// fetchIfDue reports whether a fetch is running now.
func (v *Verifier) fetchIfDue(a *signingAgent, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.isFetching {
		return true
	}
	if now.Before(a.nextFetch) || !v.beginFetch() {
		return false
	}
	a.isFetching = true
	go func() {
		defer v.wg.Done()
		select {
		case v.fetchSlots <- struct{}{}:
			defer func() { <-v.fetchSlots }()
		case <-v.ctx.Done():
		}
		_ = v.fetch(v.ctx, a)
	}()
	return true
}

// beginFetch makes Close wait for a new fetch, which calls v.wg.Done at its end. The result is
// false after Close.
func (v *Verifier) beginFetch() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.isClosed {
		return false
	}
	v.wg.Add(1)
	return true
}

// ErrFetching is returned by [Verifier.Refresh] while a fetch of the same
// directory runs already.
var ErrFetching = errors.New("the directory is being fetched already")

// Refresh fetches an agent's directory now and returns the error. Refresh is for commands and for
// the start of a server. Requests start fetches themselves.
func (v *Verifier) Refresh(ctx context.Context, name string) error {
	a, err := v.findAgent(name)
	if err != nil {
		return err
	}
	a.mu.Lock()
	if a.isFetching {
		a.mu.Unlock()
		return ErrFetching
	}
	if !v.beginFetch() {
		a.mu.Unlock()
		return context.Canceled
	}
	a.isFetching = true
	a.mu.Unlock()
	defer v.wg.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(v.ctx, cancel)()
	return v.fetch(ctx, a)
}

// fetch fetches a directory and sets the time of the next fetch. After an error the old
// directory stays in use.
func (v *Verifier) fetch(ctx context.Context, a *signingAgent) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	d, retryAfter, err := v.fetchDirectory(ctx, a)
	if err != nil {
		err = fmt.Errorf("web bot auth directory of %s: %w", a.origin, err)
	}
	now := v.options.Now()
	a.mu.Lock()
	a.isFetching, a.err = false, err
	if err == nil {
		a.directory.Store(d)
		a.failures, a.nextFetch = 0, now.Add(addJitter(minFresh))
	} else {
		wait := max(min(addJitter(minBackOff<<min(a.failures, 16)), maxBackOff), min(retryAfter, maxRetryAfter))
		a.failures, a.nextFetch = a.failures+1, now.Add(wait)
	}
	a.mu.Unlock()
	if v.options.OnFetched != nil && v.ctx.Err() == nil {
		v.options.OnFetched(a.origin, err)
	}
	return err
}

var errTimeout = fmt.Errorf("no complete response within %s", fetchTimeout)

// fetchDirectory requests and parses the directory of an agent. retryAfter is the wait that an
// error response demands.
func (v *Verifier) fetchDirectory(ctx context.Context, a *signingAgent) (d *keyDirectory, retryAfter time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.origin+directoryPath, nil)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Accept", directoryType)
	req.Header.Set("User-Agent", v.options.UserAgent)
	response, err := v.client.Do(req)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, 0, errTimeout
	}
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	now := v.options.Now()
	if response.StatusCode/100 == 3 {
		return nil, limit.RetryAfter(response.Header, now), fmt.Errorf("status %d: redirects are not followed", response.StatusCode)
	}
	if response.StatusCode != http.StatusOK {
		return nil, limit.RetryAfter(response.Header, now), fmt.Errorf("status %d, not 200", response.StatusCode)
	}
	contentType := response.Header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(contentType); err != nil || media != directoryType {
		return nil, 0, fmt.Errorf("media type %q, not %s", contentType, directoryType)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, MaxDirectory+1))
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, 0, errTimeout
	}
	if err != nil {
		return nil, 0, err
	}
	keys, err := parseKeys(text, v.options.TestKeys)
	if err != nil {
		return nil, 0, err
	}
	return &keyDirectory{keys: keys, fetched: now, expires: now.Add(freshness.Lifetime(response.Header, now))}, 0, nil
}

// addJitter adds a random duration of up to 10 % to d, so that instances do not fetch at the same
// time.
func addJitter(d time.Duration) time.Duration { return d + rand.N(d/10) }
