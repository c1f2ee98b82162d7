package placement

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// isGuarded reports whether every request that comes this way has come through a guard.
func (y *way) isGuarded() bool {
	for b := y.before.nearestGuard(); b != nil; b = b.guard {
		if within(y.reach, b.reach) {
			return true
		}
	}
	return false
}

// caches are the handlers that keep answers for others: that of cache-handler and of
// Souin, of which it is made, and cdp-cache.
var caches = []string{"cache", "souin", "souin_cache", "http_cache"}

// cachedBy returns the name of a cache that a request for a robots.txt may come through
// on this way, "" for none.
func (y *way) cachedBy() string {
	for b := y.before.nearestOdd(); b != nil; b = b.odd {
		if b.caches && !slices.Contains(y.groups, b.group) && !slices.ContainsFunc(b.matches, Match.leavesOut) {
			return b.name
		}
	}
	return ""
}

const robotsTXTPath = "/robots.txt"

// isFor reports whether a matcher of paths is for this one. ok is false if that
// cannot be told.
func isFor(config json.RawMessage, path string) (is, ok bool) {
	var paths caddyhttp.MatchPath
	if json.Unmarshal(config, &paths) != nil || len(paths) == 0 || paths.Provision(caddy.Context{}) != nil {
		return false, false
	}
	r := &http.Request{URL: &url.URL{Path: path}}
	is, err := paths.MatchWithError(r.WithContext(context.WithValue(context.Background(), caddy.ReplacerCtxKey, caddy.NewReplacer())))
	return is, err == nil
}
