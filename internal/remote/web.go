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
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// These are bounds of reading a URL.
const (
	readTimeout    = 30 * time.Second // readTimeout is the time for all requests, including redirects.
	maxRedirects   = 5
	maxHeaderBytes = 64 << 10
)

// FreshnessLimits is the default and the bounds of the freshness lifetime.
var FreshnessLimits = policy.FreshnessPolicy{Default: 5 * time.Minute, Min: time.Minute, Max: time.Hour}

// urlSource is a [Source] that fetches a URL.
type urlSource struct {
	kind SourceSettings
	url  *url.URL
	now  func() time.Time

	// unrestrictedClient connects to any address, for the host of the configured URL.
	// publicOnlyClient connects only to public addresses, for redirects to other hosts.
	unrestrictedClient, publicOnlyClient *http.Client
}

func newURLSource(kind SourceSettings, u *url.URL, now func() time.Time) *urlSource {
	return &urlSource{kind: kind, url: u, now: now, unrestrictedClient: newClient(nil), publicOnlyClient: newClient(kind.refusePrivateAddress)}
}

// Name implements [Source].
func (w *urlSource) Name() string { return w.url.Redacted() }

// IsURL implements [Source].
func (w *urlSource) IsURL() bool { return true }

// newClient returns a client that follows no redirects and closes each connection. control can
// refuse addresses. Private addresses are allowed only for the configured host, because other
// people can control a redirect.
func newClient(control func(network, address string, _ syscall.RawConn) error) *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: control}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil, // The networks that a proxy can reach are unknown.
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    10 * time.Second,
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: maxHeaderBytes,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// refusePrivateAddress is a Control function of [net.Dialer] that returns an error for addresses
// that are not public.
func (k SourceSettings) refusePrivateAddress(_, address string, _ syscall.RawConn) error {
	addrPort, err := netip.ParseAddrPort(address)
	if err == nil && !addr.IsPublic(addrPort.Addr()) {
		err = fmt.Errorf("refusing to follow a redirect to %s, which is not a public address; if this is intended, write the redirect's URL after %s", addrPort.Addr(), k.OptionName)
	}
	return err
}

// Read implements [Source].
func (w *urlSource) Read(ctx context.Context, previous FetchResult) (FetchResult, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readTimeout, fmt.Errorf("no complete answer within %v", readTimeout))
	defer cancel()
	a, err := w.followRedirects(ctx, previous)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		if urlErr, ok := errors.AsType[*url.Error](err); ok {
			err = urlErr.Err // The message omits the URL.
		}
		err = fmt.Errorf("%s: %w", w.Name(), err)
	}
	return a, err
}

// followRedirects fetches the URL and follows redirects.
func (w *urlSource) followRedirects(ctx context.Context, previous FetchResult) (FetchResult, error) {
	current := w.url
	for range maxRedirects + 1 {
		validators := previous
		if current != w.url {
			validators = FetchResult{} // The validators belong to another URL.
		}
		a, next, err := w.request(ctx, current, validators)
		if err != nil || next == nil {
			if current != w.url {
				a.ETag, a.LastModified = "", ""
			}
			return a, err
		}
		if err := checkRedirect(current, next); err != nil {
			return FetchResult{}, err
		}
		current = next
	}
	return FetchResult{}, fmt.Errorf("more than %d redirects", maxRedirects)
}

// checkRedirect returns an error for a forbidden redirect: to another scheme than http or https, or
// from https to http.
func checkRedirect(from, to *url.URL) error {
	if to.Scheme == from.Scheme && to.Host != "" || to.Scheme == "https" && to.Host != "" {
		return nil
	}
	return fmt.Errorf("refusing to follow a redirect from %s to %s", from.Scheme, to.Redacted())
}

// request makes one request. next is the target if the response is a redirect, or else nil.
func (w *urlSource) request(ctx context.Context, target *url.URL, validators FetchResult) (a FetchResult, next *url.URL, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return a, nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", site.GuardUserAgent)
	if validators.ETag != "" {
		request.Header.Set("If-None-Match", validators.ETag)
	}
	if validators.LastModified != "" {
		request.Header.Set("If-Modified-Since", validators.LastModified)
	}
	client := w.publicOnlyClient
	if target.Host == w.url.Host {
		client = w.unrestrictedClient
	}
	response, err := client.Do(request)
	if err != nil {
		return a, nil, err
	}
	defer response.Body.Close()
	a.Lifetime = FreshnessLimits.Lifetime(response.Header, w.now())
	a.ETag, a.LastModified = response.Header.Get("ETag"), response.Header.Get("Last-Modified")
	switch code := response.StatusCode; {
	case code == http.StatusOK:
		if a.Data, err = w.readBody(response); err != nil {
			return FetchResult{}, nil, err // With the validators, the next response would be 304.
		}
		return a, nil, nil
	case code == http.StatusNotModified && (validators.ETag != "" || validators.LastModified != ""):
		a.IsUnchanged, a.ETag, a.LastModified = true, validators.ETag, validators.LastModified
		return a, nil, nil
	case code >= 300 && code < 400 && response.Header.Get("Location") != "":
		if next, err = target.Parse(response.Header.Get("Location")); err == nil {
			next.User, next.Fragment = nil, "" // Credentials must not be forwarded.
		}
		return FetchResult{}, next, err
	}
	return FetchResult{Lifetime: limit.RetryAfter(response.Header, w.now())}, nil, fmt.Errorf("the answer is %s; the server must answer 200 with %s", response.Status, w.kind.ContentName)
}

// readBody reads at most MaxBytes+1 bytes of the body. The HTTP client has already decompressed
// gzip.
func (w *urlSource) readBody(response *http.Response) ([]byte, error) {
	if coding := strings.Join(response.Header.Values("Content-Encoding"), ", "); coding != "" {
		return nil, fmt.Errorf("the answer has Content-Encoding %q, which was not requested", coding)
	}
	return io.ReadAll(io.LimitReader(response.Body, w.kind.MaxBytes+1))
}
