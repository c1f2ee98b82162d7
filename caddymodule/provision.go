package caddymodule

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

const (
	defaultFetchTimeout = 5 * time.Second
	defaultFetchWait    = 250 * time.Millisecond
	defaultTTLMin       = time.Minute
)

// Provision sets up the handler.
func (h *Handler) Provision(ctx caddy.Context) (err error) {
	h.logger = ctx.Logger()
	h.setDefaults()
	if err := h.Validate(); err != nil {
		return err
	}
	if err := h.checkSourceFile(); err != nil {
		return option.AddCaddyfileLine(h.Source.CaddyfileLine, err)
	}
	if err := h.OnViolation.Provision(ctx); err != nil {
		return fmt.Errorf("on_violation: %w", err)
	}
	app, err := UseApp(ctx)
	if err != nil {
		return err
	}
	if err := app.CheckOrder(ctx); err != nil {
		return err
	}
	if h.guard, err = h.newGuard(ctx); err != nil {
		return err
	}
	app.state.Metrics.CountHandler(ctx, h.Mode)
	return nil
}

// checkSourceFile returns an error if the source is a file that cannot be read.
func (h *Handler) checkSourceFile() error {
	if h.Source == nil || h.Source.File == "" {
		return nil
	}
	alternative := "write optional after the path if the file may be missing"
	if h.Source.Optional {
		alternative = ""
	}
	return site.CheckFile("source", h.Source.File, alternative)
}

// setDefaults sets empty fields to their defaults.
func (h *Handler) setDefaults() {
	h.Mode = cmp.Or(h.Mode, modeMonitor)
	h.FetchTimeout = cmp.Or(h.FetchTimeout, caddy.Duration(defaultFetchTimeout))
	h.FetchWait = cmp.Or(h.FetchWait, min(caddy.Duration(defaultFetchWait), h.FetchTimeout))
	h.TTLMax = cmp.Or(h.TTLMax, caddy.Duration(policy.MaxAge))
	h.TTLMin = cmp.Or(h.TTLMin, min(caddy.Duration(defaultTTLMin), h.TTLMax))
	h.Grace = cmp.Or(h.Grace, caddy.Duration(policy.MaxAge))
	h.Unreachable = cmp.Or(h.Unreachable, unreachableLastGood)
	h.Spoofed = cmp.Or(h.Spoofed, spoofedJudge)
	h.Status = cmp.Or(h.Status, http.StatusForbidden)
}

// newGuard returns a guard with the handler's settings.
func (h *Handler) newGuard(ctx caddy.Context) (*guard.Guard, error) {
	app, err := UseApp(ctx)
	if err != nil {
		return nil, err
	}
	app.needsIdentity = true
	if err := app.registerMetrics(ctx); err != nil {
		return nil, err
	}
	c := guard.Config{
		FetchTimeout:    time.Duration(h.FetchTimeout),
		FetchWait:       time.Duration(h.FetchWait),
		Freshness:       policy.FreshnessPolicy{Min: time.Duration(h.TTLMin), Max: time.Duration(h.TTLMax)},
		Fallback:        fallbacks[h.Unreachable],
		Grace:           max(0, time.Duration(h.Grace)),
		ChangeGuardTime: time.Duration(h.ChangeGuard),
		Registry:        app.currentRegistry.CurrentRegistry,
		Identity:        app.identity,
		Events:          app.events,
		Sites:           app.sites,
		UsesPathVerdict: &app.usesPathVerdict,
		Logger:          h.logger,
		RespondRefused:  h.respondBlocked,
	}
	if c.Settings, err = h.settings(app.registry); err != nil {
		return nil, err
	}
	if c.Rate, err = h.Rate.Settings(app.registry); err != nil {
		return nil, err
	}
	err = cmp.Or(c.Settings.CheckEnforced(app.registry, h.EnforceOnly), h.Rate.ValidateForHandler(h.Decide == nil, h.Exempt, app.registry))
	if err != nil && app.RegistrySource == nil {
		return nil, err
	} else if err != nil { // A class of the registry may have changed, which must not prevent a start.
		h.logger.Warn("options contradict each other; a change of the registry can be the cause", zap.Error(err))
	}
	if h.Source != nil {
		c.Source, c.SourceKey = newSource(h.Source, h.AllowPrivate)
	} else {
		server := site.NewServerSource(h.AllowPrivate)
		server.Sites = app.sites
		if h.FetchFrom != "" {
			server.ClientAddr = netip.MustParseAddr(h.FetchFrom) // Validate has rejected invalid addresses.
		}
		c.Source = server
	}
	h.Decide.ConfigureGuard(&c)
	if c.Freshness.Default = localLifetime; h.Source != nil && h.Source.URL != "" && h.Decide == nil {
		c.Freshness.Default = urlLifetime
	}
	if h.Shadow != nil {
		c.Shadow, c.ShadowKey = newSource(h.Shadow, h.AllowPrivate)
		c.ShadowLife = shadowLifetime
	}
	return guard.New(ctx, app.state, c), nil
}

// newSource returns the source that fetches from a location, and its key in the cache.
func newSource(l *Location, allowPrivate bool) (source site.Source, key string) {
	if l.File != "" {
		return site.FileSource{Path: l.File}, l.File
	}
	url := site.NewURLSource(l.URL, l.Host, allowPrivate)
	return url, url.Key()
}

// fallbacks are the rules for an unreachable robots.txt, by the value of Handler.Unreachable.
var fallbacks = map[string]policy.Fallback{
	unreachableAllow:    policy.AllowAll,
	unreachableDisallow: policy.DisallowAll,
	unreachableGoogle:   policy.DisallowLikeGoogle,
}

// spoofedHandlings says how to handle spoofed names, by the value of Handler.Spoofed.
var spoofedHandlings = map[string]judge.SpoofedHandling{spoofedBlock: judge.BlockSpoofed, spoofedLog: judge.LogSpoofed}

// settings returns the settings for package judge. A token that the registry lacks is an error,
// unless it has the prefix [judge.TokenPrefix].
func (h *Handler) settings(registry *uaident.Registry) (s judge.Settings, err error) {
	s = judge.Settings{Enforce: h.Mode == modeEnforce, KeepSlashes: h.KeepSlashes, SpoofedHandling: spoofedHandlings[h.Spoofed]}
	if s.WildcardClasses, err = judge.ParseClasses(h.Wildcard); err != nil {
		return s, fmt.Errorf("wildcard: %w", err)
	}
	if s.EnforceOnly, err = judge.ParseSelector(registry, h.EnforceOnly, false); err != nil {
		return s, fmt.Errorf("enforce: %w", err)
	}
	if s.Exempt, err = judge.ParseClientSet(registry, h.Exempt, h.ExemptVerified); err != nil {
		return s, fmt.Errorf("exempt: %w", err)
	}
	if s.OnlyLog, err = judge.ParseClientSet(registry, h.OnlyLog, h.OnlyLogVerified); err != nil {
		return s, fmt.Errorf("only_log: %w", err)
	}
	s.SetConfiguredNames(registry)
	return s, nil
}

// These are lifetimes of a good response before a background fetch. The site itself and files are
// cheap to fetch, and a shadow is edited often.
const (
	localLifetime  = 10 * time.Minute
	urlLifetime    = 24 * time.Hour
	shadowLifetime = time.Minute
)
