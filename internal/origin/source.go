package origin

import (
	"context"
	"errors"
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Source is where the robots.txt of a site comes from.
type Source interface {
	// Prepare takes from a request what it needs to fetch the robots.txt of the
	// request's site, which key tells. It fetches nothing yet. ok is false if this source cannot be
	// asked on behalf of this request.
	Prepare(r *http.Request, key policy.Key) (fetch Fetch, ok bool)
}

// Fetch reads the robots.txt of one site. It may run after the request that it was
// prepared from has ended, returns soon after ctx is done and never panics. have
// is the copy that is known, nil if there is none; the answer may be that it still
// holds.
type Fetch func(ctx context.Context, have *policy.Version) policy.Answer

// ErrFetchTimeout is the cause with which a fetch that takes too long is ended.
var ErrFetchTimeout = errors.New("no complete answer within fetch_timeout; if the robots.txt really takes that long, raise it")

// virtualKey marks the context of the guard's own requests to the server. No
// client can set it, as it could a header.
type virtualKey struct{}

// IsVirtual reports whether a request is the guard's own, which the guard has
// to pass on.
func IsVirtual(ctx context.Context) bool {
	return ctx.Value(virtualKey{}) != nil
}

// Interface guards
var (
	_ Source = (*Server)(nil)
	_ Source = (*URL)(nil)
	_ Source = File{}
)
