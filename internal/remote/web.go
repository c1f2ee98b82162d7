package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/limit"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Bounds of reading a URL.
const (
	readTime     = 30 * time.Second // total, with redirects
	maxRedirects = 5
	maxHeader    = 64 << 10
)

// Freshness is the default and the bounds of the freshness lifetime.
var Freshness = policy.Freshness{Default: 5 * time.Minute, Min: time.Minute, Max: time.Hour}

// web is a Source at a URL.
type web struct {
	kind Kind
	url  *url.URL
	now  func() time.Time

	// anywhere fetches the configured URL, and elsewhere fetches redirect targets.
	anywhere, elsewhere *http.Client
}

func newWeb(kind Kind, at *url.URL, now func() time.Time) *web {
	return &web{kind: kind, url: at, now: now, anywhere: client(nil), elsewhere: client(kind.onlyPublic)}
}

// Name implements [Source].
func (w *web) Name() string { return w.url.Redacted() }

// IsURL implements [Source].
func (w *web) IsURL() bool { return true }

// client returns a client without connection reuse. The control function can restrict
// addresses. Private addresses are allowed only for the configured host, because other people
// can control a redirect.
func client(control func(network, address string, _ syscall.RawConn) error) *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: control}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil, // a proxy's reachable networks are unknown
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    10 * time.Second,
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: maxHeader,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// onlyPublic is a [net.Dialer] Control function that allows public addresses only.
func (k Kind) onlyPublic(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err == nil && !addr.IsPublic(to.Addr()) {
		err = fmt.Errorf("refusing to follow a redirect to %s, which is not a public address; write that URL behind %s if that is intended", to.Addr(), k.Option)
	}
	return err
}

// Read implements [Source].
func (w *web) Read(ctx context.Context, before Answer) (Answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readTime, fmt.Errorf("no complete answer within %v", readTime))
	defer cancel()
	a, err := w.follow(ctx, before)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		if outer, ok := errors.AsType[*url.Error](err); ok {
			err = outer.Err // omits the URL
		}
		err = fmt.Errorf("%s: %w", w.Name(), err)
	}
	return a, err
}

// follow fetches the URL and follows redirects.
func (w *web) follow(ctx context.Context, before Answer) (Answer, error) {
	at := w.url
	for range maxRedirects + 1 {
		asks := before
		if at != w.url {
			asks = Answer{} // validators belong to another URL
		}
		a, next, err := w.get(ctx, at, asks)
		if err != nil || next == nil {
			if at != w.url {
				a.ETag, a.LastModified = "", ""
			}
			return a, err
		}
		if err := checkRedirect(at, next); err != nil {
			return Answer{}, err
		}
		at = next
	}
	return Answer{}, fmt.Errorf("more than %d redirects", maxRedirects)
}

// checkRedirect returns an error for a redirect that is not allowed: to another scheme than
// http or https, or from https to http.
func checkRedirect(from, to *url.URL) error {
	if to.Scheme == from.Scheme && to.Host != "" || to.Scheme == "https" && to.Host != "" {
		return nil
	}
	return fmt.Errorf("refusing to follow a redirect from %s to %s", from.Scheme, to.Redacted())
}

// get makes one request. next is the target of a redirect, or nil.
func (w *web) get(ctx context.Context, at *url.URL, before Answer) (a Answer, next *url.URL, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
	if err != nil {
		return a, nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", origin.GuardUserAgent)
	if before.ETag != "" {
		request.Header.Set("If-None-Match", before.ETag)
	}
	if before.LastModified != "" {
		request.Header.Set("If-Modified-Since", before.LastModified)
	}
	to := w.elsewhere
	if at.Host == w.url.Host {
		to = w.anywhere
	}
	response, err := to.Do(request)
	if err != nil {
		return a, nil, err
	}
	defer response.Body.Close()
	a.Life = Freshness.Lifetime(policy.Answer{Status: response.StatusCode, Header: response.Header}, w.now())
	a.ETag, a.LastModified = response.Header.Get("ETag"), response.Header.Get("Last-Modified")
	switch code := response.StatusCode; {
	case code == http.StatusOK:
		a.Data, err = w.body(response)
		return a, nil, err
	case code == http.StatusNotModified && (before.ETag != "" || before.LastModified != ""):
		a.Unchanged, a.ETag, a.LastModified = true, before.ETag, before.LastModified
		return a, nil, nil
	case code >= 300 && code < 400 && response.Header.Get("Location") != "":
		if next, err = at.Parse(response.Header.Get("Location")); err == nil {
			next.User, next.Fragment = nil, "" // do not forward credentials
		}
		return Answer{}, next, err
	}
	return Answer{Life: limit.RetryAfter(response.Header, w.now())}, nil, fmt.Errorf("the answer is %s; %s has to be answered with 200", response.Status, w.kind.Text)
}

// body reads at most Max+1 bytes of the body. gzip is already decompressed.
func (w *web) body(response *http.Response) ([]byte, error) {
	if coding := strings.Join(response.Header.Values("Content-Encoding"), ", "); coding != "" {
		return nil, fmt.Errorf("the answer has Content-Encoding %q, which was not asked for", coding)
	}
	return io.ReadAll(io.LimitReader(response.Body, w.kind.Max+1))
}
