package simulate

import (
	"fmt"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// tell adds a line to the story if the world records it.
func (w *world) tell(format string, args ...any) {
	if !w.tells {
		return
	}
	w.story = append(w.story, fmt.Sprintf("%9s  ", time.Since(w.start).Round(time.Second))+fmt.Sprintf(format, args...))
}

// fail records a violated invariant. Only the first is kept.
func (w *world) fail(format string, args ...any) {
	if w.failure == "" {
		w.failure = fmt.Sprintf(format, args...)
		w.tell("%s", w.failure)
		for _, i := range w.instances {
			i.tellKnown()
		}
	}
}

// tellKnown adds the cached files of an instance to the story.
func (i *instance) tellKnown() {
	for _, e := range i.state.Cache.Entries() {
		state := e.State()
		if state == nil || state.Current == nil {
			i.world.tell("%s has no copy of %s", i.id, e.Key().Host)
			continue
		}
		i.world.tell("%s has these versions of %s, with %d failures since:", i.id, e.Key().Host, state.FailureCount)
		for _, v := range append([]*policy.Version{state.Current}, state.Previous...) {
			i.world.tell("from %s to %s, over since %s\n%s", i.world.since(v.FirstFetched), i.world.since(v.LastFetched), i.world.since(v.ReplacedAt), indent(v.Robots.Text()))
		}
	}
}

// since returns a time as in the story, "never" for the zero time.
func (w *world) since(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return at.Sub(w.start).Round(time.Second).String()
}

func indent(text string) string {
	return "             | " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n             | ")
}
