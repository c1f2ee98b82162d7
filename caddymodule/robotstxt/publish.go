package robotstxt

import (
	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/caddymodule"
	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
)

// confirmWords are the values of Handler.Confirm.
var confirmWords = []string{string(publish.Search), string(publish.Any), string(publish.Off)}

// publishConfig returns the configuration of the publisher, except for the rules.
func (h *Handler) publishConfig(ctx caddy.Context, app *caddymodule.App) (c publish.Config, err error) {
	source, key := h.source()
	if c, err = app.PublishConfig(ctx, h.Confirm == string(publish.Search) || h.Rollout != nil, source != nil); err != nil {
		return c, err
	}
	events, err := guard.NewEvents(ctx, ctx.Logger())
	if err != nil {
		return c, err
	}
	c.Observer = events.TellChanges(c.Observer)
	c.Source, c.SourceKey = source, key
	c.Gate, c.Confirm, c.Rollout = gates[h.Gate], publish.Confirm(h.Confirm), h.Rollout.plan()
	c.Base = func() func(host string) []byte {
		if h.BaseFile == "" && h.Base == baseUpstream {
			return publish.BasesByHost(c.Bases)
		}
		base := []byte(nil)
		if h.BaseFile != "" {
			base = publish.BaseOfFile(c.Bases, h.BaseFile)
		}
		var err error
		if base == nil {
			base, err = h.knownBase()
		}
		if base == nil && err == nil {
			base = []byte{} // without a base
		}
		return func(string) []byte { return base }
	}
	return c, nil
}

// Start starts to publish the rules.
func (h *Handler) Start(place publish.Place) (p *publish.Publisher, end func()) {
	if place.Name == "" { // routes of an unknown handler contain this handler
		place.Name = h.key()
	}
	return h.publisher, h.publisher.Begin(place)
}

// Interface guard
var _ caddymodule.Starter = (*Handler)(nil)
