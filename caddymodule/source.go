package caddymodule

import (
	"context"
	"errors"
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// source is where the robots.txt of a site comes from.
type source interface {
	// prepare takes from a request what it needs to read the robots.txt of the
	// request's site, which key tells, as the guard or as a client that as
	// describes. It reads nothing yet. ok is false if this source cannot be read
	// on behalf of this request.
	//
	// read may run after the request has ended. It returns soon after ctx is
	// done and never panics. have is the copy that is known, nil if there is
	// none; the answer may be that it still holds.
	prepare(r *http.Request, key policy.Key, as witness) (read reader, ok bool)
}

// reader reads the robots.txt of one site.
type reader func(ctx context.Context, have *policy.Version) policy.Answer

// errFetchTimeout is the cause with which a read that takes too long is ended.
var errFetchTimeout = errors.New("no complete answer within fetch_timeout; if the robots.txt really takes that long, raise it")

// virtualKey marks the context of the guard's own requests to the server. No
// client can set it, as it could a header.
type virtualKey struct{}

// isVirtual reports whether a request is the guard's own, which the guard has
// to pass on.
func isVirtual(ctx context.Context) bool {
	return ctx.Value(virtualKey{}) != nil
}

// Interface guards
var (
	_ source = (*serverSource)(nil)
	_ source = (*urlSource)(nil)
	_ source = fileSource{}
)
