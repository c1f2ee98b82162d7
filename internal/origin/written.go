package origin

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

const (
	// onceMoreAfter is the delay before a second fetch of a file that may be incomplete. Editors
	// and scripts need less time to write the file. The delay is shorter than fetch_wait, so
	// waiting requests still get the result.
	onceMoreAfter = 100 * time.Millisecond

	// justWritten is the maximum age of a file that may still be incomplete. Last-Modified has
	// whole seconds.
	justWritten = 2 * time.Second
)

// onceMore fetches a file again if it may have been incomplete. During a rewrite, a file may be
// empty or missing for a moment. Without the second fetch, the guard would use that file until the
// copy expires and for the grace after that.
func onceMore(fetch Fetch) Fetch {
	return func(ctx context.Context, have *policy.Version) policy.Answer {
		answer := fetch(ctx, have)
		if !mayBeUnfinished(answer, have, time.Now()) {
			return answer
		}
		timer := time.NewTimer(onceMoreAfter)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return answer
		}
		again := fetch(ctx, have)
		switch meaning := again.Meaning(); {
		case meaning == policy.Rules, meaning == policy.Unchanged:
			return again
		case meaning.Known() && answer.Meaning() != policy.Rules:
			return again
		}
		return answer // ignore the second fetch, otherwise the file of a slow site could never change
	}
}

// mayBeUnfinished reports whether a changed file may be incomplete because it is being written.
func mayBeUnfinished(answer policy.Answer, have *policy.Version, now time.Time) bool {
	hash, ok := policy.HashOf(answer)
	if !ok || have == nil || hash == have.Hash {
		return false
	}
	if age, ok := policy.SinceModified(answer.Header, now); ok && answer.Meaning() == policy.Rules {
		return age.Abs() < justWritten
	}
	isGone := answer.Status == http.StatusNotFound || answer.Status == http.StatusGone
	isEmpty := answer.Meaning() == policy.Rules && len(bytes.TrimSpace(answer.Body)) == 0
	return (isGone || isEmpty) && have.Robots.Restricts()
}
