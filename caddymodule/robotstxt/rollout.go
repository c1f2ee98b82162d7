package robotstxt

import (
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/publication"
)

// Rollout says how a change comes to all.
type Rollout struct {
	// What comes first: `shadow` judges the change beside what is published, on live
	// requests and without any effect, and publishes it after the time unless a search
	// engine would be newly forbidden something.
	Stage string `json:"stage"`

	// How long that takes, from `1m` to `30d`.
	Duration caddy.Duration `json:"duration"`
}

// setRollout reads how a change comes to all.
func (h *Handler) setRollout(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "now":
		h.Rollout = nil
	case len(args) == 2 && args[0] == string(publication.Shadow):
		h.Rollout = &Rollout{Stage: args[0]}
		return option.One(&h.Rollout.Duration, option.Duration)(args[1:])
	case len(args) == 0:
		return option.ErrCount
	default:
		return option.ErrValue
	}
	return nil
}

// Bounds of Rollout.Duration.
const (
	shortestRollout = time.Minute
	longestRollout  = 30 * 24 * time.Hour
)

// validate checks what a configuration says. That of nil is at once.
func (r *Rollout) validate() error {
	switch {
	case r == nil:
	case r.Stage != string(publication.Shadow):
		return fmt.Errorf("unknown stage %q of rollout; use shadow, or leave rollout out", r.Stage)
	case time.Duration(r.Duration) < shortestRollout || time.Duration(r.Duration) > longestRollout:
		return fmt.Errorf("rollout %s %s cannot be; use a time from 1m to 30d", r.Stage, time.Duration(r.Duration))
	}
	return nil
}

// steps returns what the history is told.
func (r *Rollout) steps() publication.Rollout {
	if r == nil {
		return publication.Rollout{}
	}
	return publication.Rollout{Stage: publication.Stage(r.Stage), Seconds: int64(time.Duration(r.Duration) / time.Second)}
}
