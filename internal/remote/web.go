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
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/retryafter"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Bounds of reading a URL.
const (
	readTime     = 30 * time.Second // for all of it, redirects included
	maxRedirects = 5
	maxHeader    = 64 << 10
)

// Freshness is how long a text holds that does not say it, and the least and most.
var Freshness = policy.Freshness{Default: 5 * time.Minute, Min: time.Minute, Max: time.Hour}

// web is a text at a URL.
type web struct {
	kind Kind
	url  *url.URL
	now  func() time.Time

	// anywhere and elsewhere are for the URL that the owner has written, and for others.
	anywhere, elsewhere *http.Client
}

func newWeb(kind Kind, at *url.URL, now func() time.Time) *web {
	return &web{kind: kind, url: at, now: now, anywhere: client(nil), elsewhere: client(kind.onlyPublic)}
}

// Name implements [Source].
func (w *web) Name() string { return w.url.Redacted() }

// IsURL implements [Source].
func (w *web) IsURL() bool { return true }

// client returns a client that keeps no connection. An address inside of the owner's
// network is reached only where the owner has named it: a redirect may be the choice
// of somebody else.
func client(control func(network, address string, _ syscall.RawConn) error) *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: control}
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

// onlyPublic is a [net.Dialer] Control function.
func (k Kind) onlyPublic(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err == nil && !addr.IsPublic(to.Addr()) {
		err = fmt.Errorf("refusing to follow a redirect to %s, which is no public address; write that URL behind %s if it is meant", to.Addr(), k.Option)
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
			err = outer.Err // says the URL once more
		}
		err = fmt.Errorf("%s: %w", w.Name(), err)
	}
	return a, err
}

// follow reads the URL, and where it redirects to.
func (w *web) follow(ctx context.Context, before Answer) (Answer, error) {
	at := w.url
	for range maxRedirects + 1 {
		asks := before
		if at != w.url {
			asks = Answer{} // what is known is of another URL
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

// checkRedirect tells whether a redirect is followed: to http or https, and never
// from https to http.
func checkRedirect(from, to *url.URL) error {
	if to.Scheme == from.Scheme && to.Host != "" || to.Scheme == "https" && to.Host != "" {
		return nil
	}
	return fmt.Errorf("refusing to follow a redirect from %s to %s", from.Scheme, to.Redacted())
}

// get makes one request. next is where the answer redirects to, nil if nowhere.
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
			next.User, next.Fragment = nil, "" // nobody's credentials are sent along
		}
		return Answer{}, next, err
	}
	return Answer{Life: retryafter.Of(response.Header, w.now())}, nil, fmt.Errorf("the answer is %s; %s has to be answered with 200", response.Status, w.kind.Text)
}

// body reads the text of an answer, as far as it is not too long. What was
// packed with gzip is unpacked by then.
func (w *web) body(response *http.Response) ([]byte, error) {
	if coding := strings.Join(response.Header.Values("Content-Encoding"), ", "); coding != "" {
		return nil, fmt.Errorf("the answer has Content-Encoding %q, which was not asked for", coding)
	}
	return io.ReadAll(io.LimitReader(response.Body, w.kind.Max+1))
}
