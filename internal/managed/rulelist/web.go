package rulelist

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Bounds of reading a URL.
const (
	readTime     = 30 * time.Second // for all of it, redirects included
	maxRedirects = 5
	maxHeader    = 64 << 10
)

// freshness is how long a list holds that does not say it, and the least and most.
var freshness = policy.Freshness{Default: 5 * time.Minute, Min: time.Minute, Max: time.Hour}

// web is a list at a URL.
type web struct {
	url *url.URL
	now func() time.Time
}

func (w *web) name() string { return w.url.Redacted() }
func (w *web) isURL() bool  { return true }

// client returns a client that keeps no connection. An address inside of the owner's
// network is reached only where the owner has named it: a redirect may be the choice
// of somebody else.
func client(public bool) *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if public {
		dialer.Control = onlyPublic
	}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil, // what it may reach is not known here
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    10 * time.Second,
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: maxHeader,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// anywhere and elsewhere are for the URL that the owner has written, and for others.
var anywhere, elsewhere = client(false), client(true)

// onlyPublic is a [net.Dialer] Control function.
func onlyPublic(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err == nil && !addr.IsPublic(to.Addr()) {
		err = fmt.Errorf("refusing to follow a redirect to %s, which is no public address; write that URL behind rules if it is meant", to.Addr())
	}
	return err
}

func (w *web) read(ctx context.Context, before answer) (answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readTime, fmt.Errorf("no complete answer within %v", readTime))
	defer cancel()
	a, err := w.follow(ctx, before)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		if outer, ok := errors.AsType[*url.Error](err); ok {
			err = outer.Err // says the URL once more
		}
		err = fmt.Errorf("%s: %w", w.name(), err)
	}
	return a, err
}

// follow reads the URL, and where it redirects to.
func (w *web) follow(ctx context.Context, before answer) (answer, error) {
	at := w.url
	for range maxRedirects + 1 {
		asks := before
		if at != w.url {
			asks = answer{} // what is known is of another URL
		}
		a, next, err := w.get(ctx, at, asks)
		if err != nil || next == nil {
			if at != w.url {
				a.etag, a.lastModified = "", ""
			}
			return a, err
		}
		if err := checkRedirect(at, next); err != nil {
			return answer{}, err
		}
		at = next
	}
	return answer{}, fmt.Errorf("more than %d redirects", maxRedirects)
}

// checkRedirect tells whether a redirect is followed: to http or https, and never
// from https to http.
func checkRedirect(from, to *url.URL) error {
	if to.Scheme == from.Scheme && to.Host != "" || to.Scheme == "https" && to.Host != "" {
		return nil
	}
	return fmt.Errorf("refusing to follow a redirect from %s to %s", from.Scheme, to.Redacted())
}

// get makes one request. next is where the answer redirects to, nil if nowhere.
func (w *web) get(ctx context.Context, at *url.URL, before answer) (a answer, next *url.URL, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
	if err != nil {
		return a, nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", origin.GuardUserAgent)
	if before.etag != "" {
		request.Header.Set("If-None-Match", before.etag)
	}
	if before.lastModified != "" {
		request.Header.Set("If-Modified-Since", before.lastModified)
	}
	to := elsewhere
	if at.Host == w.url.Host {
		to = anywhere
	}
	response, err := to.Do(request)
	if err != nil {
		return a, nil, err
	}
	defer response.Body.Close()
	a.life = freshness.Lifetime(policy.Answer{Status: response.StatusCode, Header: response.Header}, w.now())
	a.etag, a.lastModified = response.Header.Get("ETag"), response.Header.Get("Last-Modified")
	switch code := response.StatusCode; {
	case code == http.StatusOK:
		a.data, err = body(response)
		return a, nil, err
	case code == http.StatusNotModified && (before.etag != "" || before.lastModified != ""):
		a.unchanged, a.etag, a.lastModified = true, before.etag, before.lastModified
		return a, nil, nil
	case code >= 300 && code < 400 && response.Header.Get("Location") != "":
		if next, err = at.Parse(response.Header.Get("Location")); err == nil {
			next.User, next.Fragment = nil, "" // nobody's credentials are sent along
		}
		return answer{}, next, err
	}
	return answer{life: retryAfter(response.Header)}, nil, fmt.Errorf("the answer is %s; a list has to be answered with 200", response.Status)
}

// body reads the text of an answer, as far as it is not too long for a list. What was
// packed with gzip is unpacked by then.
func body(response *http.Response) ([]byte, error) {
	if coding := strings.Join(response.Header.Values("Content-Encoding"), ", "); coding != "" {
		return nil, fmt.Errorf("the answer has Content-Encoding %q, which was not asked for", coding)
	}
	return io.ReadAll(io.LimitReader(response.Body, MaxBytes+1))
}

// retryAfter returns for how long an answer asks to be left alone, in seconds
// (RFC 9110 section 10.2.3); 0 if it does not.
func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.ParseUint(header.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
