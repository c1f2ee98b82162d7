package origin

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

const (
	// onceMoreAfter is how soon a file is read again that may be being written: an editor or a
	// script is done by then, and who waits for the reading, for fetch_wait, still has it.
	onceMoreAfter = 100 * time.Millisecond

	// justWritten is how long ago a file was written at most that may be being written. Its
	// date has whole seconds.
	justWritten = 2 * time.Second
)

// onceMore reads a file again where it may have been read while it was being written: who
// rewrites it in place has it empty for a moment, and who replaces it may have none. Else a
// text that was there for a millisecond holds for as long as a copy does, and after that for
// the grace of all who may have read it.
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
		return answer // as if nobody had asked again: a site that is slow could never have it changed
	}
}

// mayBeUnfinished reports whether an answer with another text than the copy that is known may
// be of a file that is being written.
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
