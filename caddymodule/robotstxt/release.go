package robotstxt

import (
	"context"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/caddymodule"
	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// confirmWords are the words of Handler.Confirm.
var confirmWords = []string{string(publish.Search), string(publish.Any), string(publish.Off)}

// newRelease returns what brings the rules into force. bases are those that were read
// from the handlers behind.
func (h *Handler) newRelease(ctx caddy.Context, app *caddymodule.App, wanted *managed.Schedule, bases *policy.Cache) (*publish.Release, error) {
	c := app.ReleaseConfig(ctx, h.Confirm == string(publish.Search) || h.Rollout != nil)
	events, err := guard.NewEvents(ctx, ctx.Logger())
	if err != nil {
		return nil, err
	}
	c.Observer = events.TellChanges(c.Observer)
	c.Lists, c.Lacks = h.lists.Names(), h.lists.Lacks()
	c.Wanted, c.Confirm, c.Logger = wanted, publish.Confirm(h.Confirm), ctx.Logger()
	c.Rollout = h.Rollout.plan()
	c.Base = func() func(host string) []byte {
		if h.BaseFile == "" && h.Base == baseUpstream {
			return publish.BasesByHost(bases)
		}
		base := []byte(nil)
		if h.BaseFile != "" {
			base = publish.BaseOfFile(bases, h.BaseFile)
		}
		var err error
		if base == nil {
			base, err = h.knownBase()
		}
		if base == nil && err == nil {
			base = []byte{} // it is known that there is none
		}
		return func(string) []byte { return base }
	}
	return publish.New(c), nil
}

// Start begins to bring the rules into force.
func (h *Handler) Start(place publish.Place) (r *publish.Release, end func()) {
	if place.Name == "" { // it stands in routes of a handler that is not known
		place.Name = h.key()
	}
	return h.changes, h.changes.Begin(h.publisher, place)
}

// submit submits what lists of rules say now.
func (h *Handler) submit(_ context.Context, next *managed.Schedule) {
	h.changes.Submit(next, publish.FromRules, h.lists.Lacks())
}

// Interface guard
var _ caddymodule.Starter = (*Handler)(nil)
