package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/limit"
)

const fetchTimeout = 30 * time.Second

// newClient returns a client that follows only redirects to https URLs. A nil transport selects the
// default.
func newClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		transport = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			ResponseHeaderTimeout:  15 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConns:           1,
			IdleConnTimeout:        10 * time.Second,
		}
	}
	return &http.Client{
		Transport: transport,
		Timeout:   fetchTimeout,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Scheme != "https" {
				return fmt.Errorf("refusing to follow a redirect to %s: not an https URL", r.URL.Redacted())
			}
			if len(via) > 5 {
				return errors.New("too many redirects")
			}
			return nil
		},
	}
}

// listStatusError is the error for a response to the fetch of a list with another status than 200
// and 304.
type listStatusError struct {
	status     string
	retryAfter time.Duration
}

func (e *listStatusError) Error() string { return "unexpected status " + e.status }

// fetchList fetches an address list and sets the time of the next fetch. The request is conditional
// if a version of the list is in use. After an error that version stays in use.
func (v *Verifier) fetchList(ctx context.Context, l *addressList) error {
	err := v.fetchPrefixes(ctx, l)
	if err != nil && ctx.Err() != nil {
		return err
	}
	wait := addJitter(refreshInterval)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.state.failures = 0
	} else {
		wait = min(minRetryDelay<<min(l.state.failures, 10), maxRetryDelay)
		l.state.failures++
		if status, ok := errors.AsType[*listStatusError](err); ok {
			wait = min(max(wait, status.retryAfter), maxRetryDelay)
		}
		wait = max(addJitter(wait), 0)
		err = fmt.Errorf("address list %s: %w", l.source, err)
	}
	l.state.nextLoad = v.options.Now().Add(wait)
	return err
}

// fetchPrefixes requests an address list and puts its prefixes into use.
func (v *Verifier) fetchPrefixes(ctx context.Context, l *addressList) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.source, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json, text/plain;q=0.9, */*;q=0.1")
	request.Header.Set("User-Agent", v.options.UserAgent)
	current := l.active.Load()
	if current != nil {
		l.mu.Lock()
		if l.state.etag != "" {
			request.Header.Set("If-None-Match", l.state.etag)
		}
		if l.state.lastModified != "" {
			request.Header.Set("If-Modified-Since", l.state.lastModified)
		}
		l.mu.Unlock()
	}
	response, err := v.client.Do(request)
	if err != nil {
		if outer, ok := errors.AsType[*url.Error](err); ok {
			return outer.Err // The message omits the URL.
		}
		return err
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusOK:
	case response.StatusCode == http.StatusNotModified && current != nil:
		v.markUnchanged(l, current)
		return nil
	default:
		return &listStatusError{response.Status, limit.RetryAfter(response.Header, v.options.Now())}
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, MaxListBytes+1))
	if err != nil {
		return err
	}
	prefixes, err := ParseRanges(data)
	if err != nil {
		return err
	}
	next, err := newPrefixTable(prefixes)
	if err != nil {
		return err
	}
	if current != nil && current.losesMostIn(next) {
		if err := v.deferShrunkList(l, current); err != nil {
			return err
		}
	}
	v.setPrefixTable(l, next)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.etag, l.state.lastModified = response.Header.Get("ETag"), response.Header.Get("Last-Modified")
	return nil
}

// markUnchanged records that the version of the list in use is up to date.
func (v *Verifier) markUnchanged(l *addressList, current *activePrefixes) {
	now := v.options.Now()
	l.active.Store(&activePrefixes{current.prefixTable, v.toMonotime(now) + monotime(maxDenyAge)})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.lastChecked, l.state.shrunkSince = now, time.Time{}
}

// deferShrunkList returns an error for a response that lacks most of the prefixes in use. After
// shrinkConfirmTime of such responses deferShrunkList returns nil. Until then the prefixes in use
// verify clients, but deny none.
func (v *Verifier) deferShrunkList(l *addressList, current *activePrefixes) error {
	now := v.options.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state.shrunkSince.IsZero() {
		l.state.shrunkSince = now
	}
	if now.Sub(l.state.shrunkSince) >= shrinkConfirmTime {
		return nil
	}
	l.active.Store(&activePrefixes{current.prefixTable, v.toMonotime(now)})
	return fmt.Errorf("the new list lacks most of the addresses in use; if later fetches lack them too, the new list is used from %s",
		l.state.shrunkSince.Add(shrinkConfirmTime).UTC().Format(time.RFC3339))
}
