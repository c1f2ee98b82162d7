package guard

import (
	"context"
	"crypto/sha256"
	"net/http"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// fetchingSource is a source whose responses depend on the guard's copy.
type fetchingSource func(have *policy.Version) policy.FetchResult

func (s fetchingSource) Prepare(*http.Request, policy.Key) (site.FetchFunc, bool) {
	return func(_ context.Context, have *policy.Version) policy.FetchResult { return s(have) }, true
}

// TestNotModifiedAfterAll fetches the robots.txt of a site while another version
// arrives from the storage. A 304 response then refers to the version of the
// conditional request, not to the version from the storage.
func TestNotModifiedAfterAll(t *testing.T) {
	var meanwhile func()
	g := testGuard(t, options{Enforce: true}, fetchingSource(func(have *policy.Version) policy.FetchResult {
		if have == nil {
			return policy.FetchResult{Status: http.StatusOK, Header: http.Header{"Etag": {`"1"`}}, Body: []byte(loose)}
		}
		meanwhile()
		return policy.FetchResult{Status: http.StatusNotModified}
	}))
	r := requestBy("bingbot/2.0", "/x")
	g.Judge(r)
	site := g.siteForRequest(r)
	entry := g.state.Cache.Get(site.Key)
	meanwhile = func() {
		var other policy.State
		other = other.AfterFetch(policy.FetchResult{Status: http.StatusOK, Body: []byte(strict)}, time.Now(), g.Freshness, 0)
		g.state.Cache.Restore(site.Key, site.CacheSegment, other, false)
	}
	refresh, _ := g.prepareFetch(r, entry, site)
	if done := refresh(); done != nil {
		<-done // the first fetch may still be running
	}
	entry.MakeDue()
	<-refresh()
	if hash := entry.State().Current.Hash; hash != sha256.Sum256([]byte(loose)) {
		t.Errorf("the current version is %x, which is not the one that is not modified", hash)
	}
	if past := entry.State().Previous; len(past) != 1 || past[0].Hash != sha256.Sum256([]byte(strict)) {
		t.Errorf("%d versions before it, want the one from the storage", len(past))
	}
}

// TestStandaloneAsksByItsCopy refreshes a source without a request. The source gets the
// copy, with which it detects a file that is being written.
func TestStandaloneAsksByItsCopy(t *testing.T) {
	var had []bool
	g := testGuard(t, options{}, fetchingSource(func(have *policy.Version) policy.FetchResult {
		had = append(had, have != nil)
		return policy.FetchResult{Status: http.StatusOK, Body: []byte(loose)}
	}))
	key := policy.Key{Source: "robots.txt"}
	g.SourceKey = key.Source
	g.state.sources.add(t.Context(), g)
	entry := g.state.Cache.GetOrCreate(key, policy.ConfiguredHosts)
	for range 2 {
		if err := g.state.FetchNow(t.Context(), entry, nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(had) != 2 || had[0] || !had[1] {
		t.Errorf("asked with a copy: %v, want [false true]", had)
	}
}
