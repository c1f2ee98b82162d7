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

	"github.com/robotsguard/caddy-robots-guard/internal/retryafter"
)

const fetchTimeout = 30 * time.Second

// newClient returns a client that never leaves https.
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
				return fmt.Errorf("refusing to follow a redirect to %s: it is no https URL", r.URL.Redacted())
			}
			if len(via) > 5 {
				return errors.New("too many redirects")
			}
			return nil
		},
	}
}

// statusError is an answer that has no list.
type statusError struct {
	status     string
	retryAfter time.Duration
}

func (e *statusError) Error() string { return "the answer is " + e.status }

// fetch asks for a list, conditionally if one is in use, and says when to ask
// again. If the answer cannot be used, the list in use stays.
func (v *Verifier) fetch(ctx context.Context, l *list) error {
	err := v.ask(ctx, l)
	if err != nil && ctx.Err() != nil {
		return err
	}
	wait := jitter(refreshEvery)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.state.failures = 0
	} else {
		wait = min(retryFirst<<min(l.state.failures, 10), retryMost)
		l.state.failures++
		if status, ok := errors.AsType[*statusError](err); ok {
			wait = min(max(wait, status.retryAfter), retryMost)
		}
		wait = max(jitter(wait), 0)
		err = fmt.Errorf("list of addresses %s: %w", l.source, err)
	}
	l.state.next = v.options.Now().Add(wait)
	return err
}

func (v *Verifier) ask(ctx context.Context, l *list) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.source, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json, text/plain;q=0.9, */*;q=0.1")
	request.Header.Set("User-Agent", v.options.UserAgent)
	before := l.loaded.Load()
	if before != nil {
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
			return outer.Err // says the URL once more
		}
		return err
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusOK:
	case response.StatusCode == http.StatusNotModified && before != nil:
		v.confirm(l, before)
		return nil
	default:
		return &statusError{response.Status, retryafter.Of(response.Header, v.options.Now())}
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, MaxListBytes+1))
	if err != nil {
		return err
	}
	prefixes, err := ParseRanges(data)
	if err != nil {
		return err
	}
	next, err := newTable(prefixes)
	if err != nil {
		return err
	}
	if before != nil && before.shrinksTo(next) {
		if err := v.suspect(l, before); err != nil {
			return err
		}
	}
	v.use(l, next)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.etag, l.state.lastModified = response.Header.Get("ETag"), response.Header.Get("Last-Modified")
	return nil
}

// confirm notes that the list in use is current.
func (v *Verifier) confirm(l *list, before *loaded) {
	now := v.options.Now()
	l.loaded.Store(&loaded{before.table, v.at(now) + moment(denyFor)})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.checked, l.state.shrunkSince = now, time.Time{}
}

// suspect notes that a list lost most of its prefixes. It returns an error until
// the list has kept saying so for long. Until then nobody knows which is right:
// what was in use still confirms claims, but denies none.
func (v *Verifier) suspect(l *list, before *loaded) error {
	now := v.options.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state.shrunkSince.IsZero() {
		l.state.shrunkSince = now
	}
	if now.Sub(l.state.shrunkSince) >= believeShrunk {
		return nil
	}
	l.loaded.Store(&loaded{before.table, v.at(now)})
	return fmt.Errorf("the list lacks most of the addresses that it had; it is used if it still does on %s",
		l.state.shrunkSince.Add(believeShrunk).UTC().Format(time.RFC3339))
}
