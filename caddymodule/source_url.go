package caddymodule

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// urlSource reads a fixed URL, whatever site the request is for.
type urlSource struct {
	url      string
	outbound *outbound
}

func newURLSource(rawURL string, allowPrivate bool) *urlSource {
	return &urlSource{url: rawURL, outbound: newOutbound(allowPrivate)}
}

func (s *urlSource) prepare(*http.Request, policy.Key, witness) (read reader, ok bool) {
	return s.read, true
}

func (s *urlSource) read(ctx context.Context, have *policy.Version) policy.Answer {
	u, err := url.Parse(s.url)
	if err != nil {
		return policy.Answer{Err: fmt.Errorf("source: %w", err)}
	}
	return follow(ctx, u, conditionsOf(have), s.outbound.get)
}
