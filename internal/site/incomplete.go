package site

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

const (
	// refetchDelay is the delay before a second fetch of a possibly incomplete file. Editors and
	// scripts need less time to write the file. The delay is shorter than fetch_wait, so waiting
	// requests still get the result.
	refetchDelay = 100 * time.Millisecond

	// maxIncompleteAge is the maximum age of a possibly incomplete file. Last-Modified has whole
	// seconds.
	maxIncompleteAge = 2 * time.Second
)

// refetchIfIncomplete returns a FetchFunc that repeats fetch once, after refetchDelay, if the
// fetched file may be incomplete. During a rewrite, a file may be empty or missing for a moment.
// Without the second fetch, the guard would use the incomplete file until it expires, and crawlers
// could use it even longer.
func refetchIfIncomplete(fetch FetchFunc) FetchFunc {
	return func(ctx context.Context, stored *policy.Version) policy.FetchResult {
		answer := fetch(ctx, stored)
		if !mayBeIncomplete(answer, stored, time.Now()) {
			return answer
		}
		timer := time.NewTimer(refetchDelay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return answer
		}
		second := fetch(ctx, stored)
		switch meaning := second.AccessResult(); {
		case meaning == policy.Successful, meaning == policy.NotModified:
			return second
		case meaning.DeterminesRules() && answer.AccessResult() != policy.Successful:
			return second
		}
		return answer // The second fetch is ignored. Otherwise the file of a slow site could never change.
	}
}

// mayBeIncomplete reports whether a changed file may be incomplete because of a write in progress.
func mayBeIncomplete(answer policy.FetchResult, stored *policy.Version, now time.Time) bool {
	hash, ok := policy.ResponseHash(answer)
	if !ok || stored == nil || hash == stored.Hash {
		return false
	}
	if age, ok := policy.TimeSinceModified(answer.Header, now); ok && answer.AccessResult() == policy.Successful {
		return age.Abs() < maxIncompleteAge
	}
	isGone := answer.Status == http.StatusNotFound || answer.Status == http.StatusGone
	isEmpty := answer.AccessResult() == policy.Successful && len(bytes.TrimSpace(answer.Body)) == 0
	return (isGone || isEmpty) && stored.Robots.Restricts()
}
