package site

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// GuardUserAgent is the User-Agent of the guard's requests.
const GuardUserAgent = "RobotsGuard/1 (+https://github.com/robotsguard/caddy-robots-guard)"

// maxResponseHeader is the maximum header size of a response from another server, in bytes.
const maxResponseHeader = 64 << 10

// outboundClient fetches a robots.txt from another server: the server of a configured URL, or the
// target of a site's redirect. An attacker may control the redirect, so by default the client
// connects only to public addresses.
type outboundClient struct {
	client *http.Client
}

// newOutboundClient returns a client without persistent connections, since fetches are rare. The client
// needs no Close.
func newOutboundClient(allowPrivate bool) *outboundClient {
	dialer := &net.Dialer{Timeout: 30 * time.Second}
	if !allowPrivate {
		// Control runs after the name is resolved and before the connection is made, so DNS
		// rebinding has no effect.
		dialer.Control = refusePrivateAddress
	}
	return &outboundClient{client: &http.Client{
		Transport: &http.Transport{
			// No proxy, even from the environment. The proxy would resolve the name and might reach
			// private addresses.
			Proxy:                  nil,
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    10 * time.Second,
			DisableKeepAlives:      true,
			DisableCompression:     true, // DecodeBody decompresses, with limits.
			MaxResponseHeaderBytes: maxResponseHeader,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// get makes a single GET request and does not follow redirects.
func (o *outboundClient) get(ctx context.Context, u *url.URL, conditions http.Header) policy.FetchResult {
	return o.getWithHost(ctx, u, "", conditions)
}

// getWithHost is like get, but sends host as the Host of the request and in X-Forwarded-Host, like
// a proxy. An empty host means the host of the URL.
func (o *outboundClient) getWithHost(ctx context.Context, u *url.URL, host string, conditions http.Header) policy.FetchResult {
	answer := o.sendRequest(ctx, u, host, conditions)
	if answer.Err != nil && ctx.Err() != nil {
		answer.Err = context.Cause(ctx) // This is more useful than "context canceled".
	}
	if answer.Err != nil {
		answer.Err = fmt.Errorf("reading %s: %w", u.Redacted(), answer.Err)
	}
	return answer
}

func (o *outboundClient) sendRequest(ctx context.Context, u *url.URL, host string, conditions http.Header) policy.FetchResult {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return policy.FetchResult{Err: err}
	}
	req.Header.Set("User-Agent", GuardUserAgent)
	if host != "" {
		req.Host = host
		req.Header.Set("X-Forwarded-Host", host)
		req.Header.Set("X-Forwarded-Proto", "https") // Without this field, many origins would redirect to https.
	}
	maps.Copy(req.Header, conditions)
	resp, err := o.client.Do(req)
	if err != nil {
		return policy.FetchResult{Err: unwrapURLError(err)}
	}
	defer resp.Body.Close()
	return readFetchResult(resp, conditions)
}

// readFetchResult reads a response, with as much of the body as the parser reads. conditions has
// the If-None-Match or If-Modified-Since of the request, and decides whether a 304 is valid.
func readFetchResult(resp *http.Response, conditions http.Header) policy.FetchResult {
	conditional := conditions.Get("If-None-Match") != "" || conditions.Get("If-Modified-Since") != ""
	if resp.StatusCode == http.StatusNotModified && conditional {
		return policy.FetchResult{Status: resp.StatusCode, Header: resp.Header}
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fetchResultFromResponse(resp.StatusCode, resp.Header, nil)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, policy.MaxSize+1))
	if err != nil {
		return policy.FetchResult{Err: err}
	}
	return fetchResultFromResponse(resp.StatusCode, resp.Header, body)
}

// unwrapURLError removes the method and the URL that http.Client adds to an error.
func unwrapURLError(err error) error {
	if wrapped, ok := err.(*url.Error); ok {
		return wrapped.Err
	}
	return err
}

// refusePrivateAddress is a [net.Dialer] Control function. refusePrivateAddress returns an error
// for nonpublic addresses.
func refusePrivateAddress(_, address string, _ syscall.RawConn) error {
	addrPort, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("refusing to connect to %s: %w", address, err)
	}
	if !addr.IsPublic(addrPort.Addr()) {
		return fmt.Errorf("refusing to connect to %s, which is not a public address; if that is intended, write allow_private on", addrPort.Addr())
	}
	return nil
}
