package site

import (
	"context"
	"errors"
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Source fetches the robots.txt of a site.
type Source interface {
	// Prepare copies the parts of a request that a later fetch of its site's robots.txt needs. key
	// identifies the site. Prepare fetches nothing. ok is false if this source cannot fetch for
	// this request.
	Prepare(request *http.Request, key policy.Key) (fetch FetchFunc, ok bool)
}

// FetchFunc fetches the robots.txt of one site. It may run after the end of the request passed to
// [Source].Prepare. It returns soon after ctx is done and never panics. stored is the stored
// version or nil. The result may say that this version is unchanged.
type FetchFunc func(ctx context.Context, stored *policy.Version) policy.FetchResult

// ErrFetchTimeout is the cancellation cause of a fetch that exceeds fetch_timeout.
var ErrFetchTimeout = errors.New("no complete answer within fetch_timeout; if the robots.txt really takes longer, raise fetch_timeout")

// guardRequestKey marks the context of the guard's own requests to the server. A client cannot set
// this key, unlike a header field.
type guardRequestKey struct{}

// IsGuardRequest reports whether ctx belongs to one of the guard's own requests. The guard must
// pass such requests on.
func IsGuardRequest(ctx context.Context) bool {
	return ctx.Value(guardRequestKey{}) != nil
}

// Interface guards
var (
	_ Source = (*ServerSource)(nil)
	_ Source = (*URLSource)(nil)
	_ Source = FileSource{}
)
