package origin

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// GuardUserAgent is how the guard names itself, to this server as to others.
const GuardUserAgent = "RobotsGuard/1 (+https://github.com/robotsguard/caddy-robots-guard)"

// maxResponseHeader bounds the header of an answer from elsewhere, in bytes.
const maxResponseHeader = 64 << 10

// outbound reads a robots.txt from another server: one that the owner named, or
// one that a site redirects to. The latter may be the choice of somebody else,
// so by default it does not connect to anything inside the owner's network.
type outbound struct {
	client *http.Client
}

// newOutbound returns a client that needs no closing: it keeps no connection,
// for it has a use for one once in hours.
func newOutbound(allowPrivate bool) *outbound {
	dialer := &net.Dialer{Timeout: 30 * time.Second}
	if !allowPrivate {
		// After the name was resolved and before the connection is made, so that
		// a name which resolves differently the second time gains nothing.
		dialer.Control = refusePrivate
	}
	return &outbound{client: &http.Client{
		Transport: &http.Transport{
			// No proxy, not even one from the environment: it would resolve the
			// name, and what it may reach is not known here.
			Proxy:                  nil,
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    10 * time.Second,
			DisableKeepAlives:      true,
			DisableCompression:     true, // Decode does it, within bounds
			MaxResponseHeaderBytes: maxResponseHeader,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// get makes one request. Redirects are answers like others.
func (o *outbound) get(ctx context.Context, u *url.URL, conditions http.Header) policy.Answer {
	return o.getAs(ctx, u, "", conditions)
}

// getAs is get for a host, "" for that of the URL, as the proxy in front of it passes
// requests on.
func (o *outbound) getAs(ctx context.Context, u *url.URL, host string, conditions http.Header) policy.Answer {
	answer := o.try(ctx, u, host, conditions)
	if answer.Err != nil && ctx.Err() != nil {
		answer.Err = context.Cause(ctx) // "context canceled" would tell nobody why
	}
	if answer.Err != nil {
		answer.Err = fmt.Errorf("reading %s: %w", u.Redacted(), answer.Err)
	}
	return answer
}

func (o *outbound) try(ctx context.Context, u *url.URL, host string, conditions http.Header) policy.Answer {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return policy.Answer{Err: err}
	}
	req.Header.Set("User-Agent", GuardUserAgent)
	if host != "" {
		req.Host = host
		req.Header.Set("X-Forwarded-Host", host)
		req.Header.Set("X-Forwarded-Proto", "https") // else many send everybody there first
	}
	maps.Copy(req.Header, conditions)
	resp, err := o.client.Do(req)
	if err != nil {
		return policy.Answer{Err: plainError(err)}
	}
	defer resp.Body.Close()
	return answerIn(resp, conditions)
}

// answerIn reads a response to a request with these conditions, as far as it is
// parsed.
func answerIn(resp *http.Response, conditions http.Header) policy.Answer {
	conditional := conditions.Get("If-None-Match") != "" || conditions.Get("If-Modified-Since") != ""
	if resp.StatusCode == http.StatusNotModified && conditional {
		return policy.Answer{Status: resp.StatusCode, Header: resp.Header}
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return answerOf(resp.StatusCode, resp.Header, nil)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, policy.MaxSize+1))
	if err != nil {
		return policy.Answer{Err: err}
	}
	return answerOf(resp.StatusCode, resp.Header, body)
}

// plainError takes off the method and the URL that http.Client puts in front of
// an error.
func plainError(err error) error {
	if wrapped, ok := err.(*url.Error); ok {
		return wrapped.Err
	}
	return err
}
