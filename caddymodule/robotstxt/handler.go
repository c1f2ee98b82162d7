// Package robotstxt implements the directive robots_txt with its Caddyfile and JSON syntax.
package robotstxt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/caddymodule"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func init() {
	caddy.RegisterModule(new(Handler))
}

// Handler serves a robots.txt composed from the site's own file and from rules about crawlers. A
// crawler with a rule gets its own group, which includes its previous rules unless the rule is for
// the whole site. The rules for all other crawlers do not change.
type Handler struct {
	// The file to which the rules are added. `upstream` uses the response of the next handlers for
	// /robots.txt. `none` uses an empty file. Default: `upstream`.
	Base string `json:"base,omitempty"`

	// The path of a file to use as the base. The file must exist when the configuration is loaded.
	BaseFile string `json:"base_file,omitempty"`

	// The rules about crawlers. Their order has no effect.
	Rules []Rule `json:"rules,omitempty"`

	// Files and HTTP or HTTPS URLs with more rules as JSON. Changed lists are read again.
	ListSources []string `json:"lists,omitempty"`

	// The URLs of sitemaps. `{http.request.host}` is replaced with the site's host, also in lines and
	// paths.
	Sitemaps []string `json:"sitemaps,omitempty"`

	// Other lines for the whole file, for example `Host: example.com`.
	ExtraLines []string `json:"lines,omitempty"`

	// Serve a robots.txt that disallows everything, and send `X-Robots-Tag: noindex` with every
	// response. Responses of a preceding robots_guard do not get the header.
	Staging bool `json:"staging,omitempty"`

	// The staging hosts, for example `staging.example.com` or `*.test`. Default: all hosts.
	StagingHosts []string `json:"staging_hosts,omitempty"`

	// Send `X-Robots-Tag: noarchive` with every response. Amazon does not train models on responses
	// with this header. Requires a rule with the training preference `n`.
	NoArchive bool `json:"noarchive,omitempty"`

	// The lowest severity of findings that stop a file: `error`, `warning`, or `off` for none. At the
	// start, such a finding is an error. Later the previous file stays. Default: `error`.
	Gate string `json:"gate,omitempty"`

	// The changes that wait for confirmation. `search` selects changes that newly disallow `/` for a
	// search engine, or a page requested by a search engine in the last 24 hours. It also selects
	// changes in which a list loses more than half of its rules, and changes of too many files to
	// compare. `any` selects all changes of a file. `off` selects only a changed list of rules after a
	// rollback. The published file stays until confirmation. Default: `search`.
	Confirm string `json:"confirm,omitempty"`

	// The rollout of a change. If the change needs confirmation, the rollout begins after it. Default:
	// publish immediately.
	Rollout *Rollout `json:"rollout,omitempty"`

	// The time for which crawlers may cache the robots.txt. Default: `1h`.
	MaxAge caddy.Duration `json:"max_age,omitempty"`

	// The positions in the Caddyfile of `rollout` and of file names that do not exist, for example
	// `Caddyfile:12`, for error messages. Set by the Caddyfile adapter.
	Positions map[string]string `json:"at,omitempty"`

	publisher       *publish.Publisher
	scheduleBuilder *publish.ScheduleBuilder
	releaseFuncs    []func()          // releaseFuncs end what Provision started, in reverse order.
	registry        *uaident.Registry // registry is the registry of the configuration. It is nil if it is unknown.
}

// These are the values of Handler.Base.
const (
	baseUpstream = "upstream"
	baseNone     = "none"
)

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.robots_txt",
		New: func() caddy.Module { return new(Handler) },
	}
}

// Provision sets up the handler.
func (h *Handler) Provision(ctx caddy.Context) error {
	app, err := caddymodule.UseApp(ctx)
	if err != nil {
		return err
	}
	if err := app.CheckOrder(ctx); err != nil {
		return err
	}
	h.registry = app.Registry()
	h.setDefaults()
	if err := h.Validate(); err != nil {
		return err
	}
	if err := h.checkBase(); err != nil {
		return option.AddCaddyfileLine(h.Positions[h.BaseFile], err)
	}
	texts, err := app.FindManagedHandlers(ctx, parseConfigKey)
	if err != nil {
		return err
	}
	hosts := texts.HostsOfName(h.configKey()) // These are the hosts of all sites, if a snippet is used in several.
	rollout := option.AddCaddyfileLine(h.Positions["rollout"], h.Rollout.checkSite(hosts, texts.FilterByName(h.configKey())))
	if err := cmp.Or(h.checkRuleHosts(hosts), h.checkStaging(hosts, app.Production), rollout); err != nil {
		return err
	}
	c, err := h.publisherConfig(ctx, app)
	if err != nil {
		return err
	}
	if err := h.acquireLists(ctx, app, hostMatcher(hosts), c.Observer); err != nil {
		return err
	}
	if c.Schedule, err = h.scheduleBuilder.FirstSchedule(isReload()); err != nil {
		return h.addListPosition(h.scheduleBuilder.Sources, err)
	}
	c.LacksRules, c.Lists, c.SiteHosts = h.scheduleBuilder.LacksRules(), h.scheduleBuilder.ReportLists, hosts
	h.publisher = publish.New(c)
	h.releaseFuncs = append(h.releaseFuncs, app.RunningPublishers().Add(h.publisher))
	app.AddManagedStarter(h)
	h.runInBackground(func(ctx context.Context) {
		h.scheduleBuilder.Run(ctx, func(next *managed.Schedule) {
			h.publisher.Submit(next, publish.FromRules, h.scheduleBuilder.LacksRules())
		})
	})
	return nil
}

// runInBackground calls do in a goroutine. Cleanup ends its context, and waits until do returns.
func (h *Handler) runInBackground(do func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		do(ctx)
	}()
	h.releaseFuncs = append(h.releaseFuncs, func() {
		cancel()
		<-ended
	})
}

// Cleanup ends everything that Provision has started.
func (h *Handler) Cleanup() error {
	for _, release := range slices.Backward(h.releaseFuncs) {
		release()
	}
	h.releaseFuncs = nil
	return nil
}

// setDefaults sets empty fields to their defaults.
func (h *Handler) setDefaults() {
	h.Base = cmp.Or(h.Base, baseUpstream)
	h.MaxAge = cmp.Or(h.MaxAge, caddy.Duration(time.Hour))
	h.Gate = cmp.Or(h.Gate, string(managed.GateErrors))
	h.Confirm = cmp.Or(h.Confirm, string(publish.ConfirmSearch))
}

// Validate checks everything that does not depend on the rest of the configuration.
func (h *Handler) Validate() error {
	switch {
	case h.Base != "" && h.Base != baseUpstream && h.Base != baseNone:
		return fmt.Errorf("unknown base %q; use upstream, none or file <path>", h.Base)
	case h.BaseFile != "" && h.Base == baseNone:
		return errors.New("base is both none and a file; keep one")
	case h.MaxAge != 0 && (h.MaxAge < caddy.Duration(time.Minute) || h.MaxAge > caddy.Duration(24*time.Hour)):
		return errors.New("max_age has to be from 1m to 24h: a crawler may keep a robots.txt for 24 hours")
	}
	if err := cmp.Or(
		option.CheckWord("gate", h.Gate, gateWords),
		option.CheckWord("confirm", h.Confirm, confirmWords),
		h.validateStaging(),
	); err != nil {
		return err
	}
	if h.NoArchive && !slices.ContainsFunc(h.Rules, func(r Rule) bool { return r.TrainingPreference == "n" }) {
		return errors.New("noarchive requires training_preference n")
	}
	for i, place := range h.ListSources {
		if slices.Contains(h.ListSources[:i], place) {
			return fmt.Errorf("rules %s is set twice; remove one", place)
		}
		if _, err := publish.NewRuleList(place, nil); err != nil {
			return err
		}
	}
	if err := h.Rollout.validate(); err != nil {
		return err
	}
	_, err := managed.NewSchedule(h.registryOrDefault(), h.specWithoutLists())
	return err
}

// ServeHTTP answers requests for /robots.txt and passes all other requests to the next handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if publish.IsBaseRequest(r.Context()) {
		caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true)
		return next.ServeHTTP(w, r)
	}
	if h.publisher.IsStagingRequest(r) {
		w.Header().Set("X-Robots-Tag", "noindex")
	}
	if h.NoArchive {
		w.Header().Add("X-Robots-Tag", "noarchive")
	}
	if r.URL.Path != "/robots.txt" || !slices.Contains([]string{http.MethodGet, http.MethodHead}, r.Method) {
		return next.ServeHTTP(w, r)
	}
	site.RecordSelfTestRequest(r.Context())
	page, until := h.publisher.Page(r)
	if page == nil {
		return next.ServeHTTP(w, r)
	}
	page.Serve(w, r, managed.CacheLifetime(time.Duration(h.MaxAge), time.Now(), until))
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.CleanerUpper          = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddyfile.Unmarshaler       = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)

// noBase is the advice for a missing base file.
const noBase = "write base none if the site has no other robots.txt"

// baseSource returns the source of the base and its key. source is nil without a base.
func (h *Handler) baseSource() (source site.Source, key string) {
	switch {
	case h.BaseFile != "":
		return site.FileSource{Path: h.BaseFile}, h.BaseFile
	case h.Base == baseUpstream:
		return site.NewServerSource(false), ""
	}
	return nil, ""
}

// checkBase returns an error if the base file is missing, because without that file the site's own
// rules would be lost.
func (h *Handler) checkBase() error {
	if h.BaseFile == "" {
		return nil
	}
	return site.CheckFile("base", h.BaseFile, noBase)
}

// setBaseLine records the Caddyfile line of a missing base file. It is no error yet, because the
// file may exist on the machine that loads the configuration.
func (h *Handler) setBaseLine(d *caddyfile.Dispenser) {
	if h.checkBase() != nil {
		h.recordPosition(h.BaseFile, d)
	}
}

// recordPosition records the Caddyfile line of a file or an option, for error messages.
func (h *Handler) recordPosition(name string, d *caddyfile.Dispenser) {
	if h.Positions == nil {
		h.Positions = make(map[string]string)
	}
	h.Positions[name] = option.CaddyfileLine(d)
}

// confirmWords are the values of Handler.Confirm.
var confirmWords = []string{string(publish.ConfirmSearch), string(publish.ConfirmAny), string(publish.ConfirmOff)}

// publisherConfig returns the configuration of the publisher, except for the rules.
func (h *Handler) publisherConfig(ctx caddy.Context, app *caddymodule.App) (c publish.Config, err error) {
	source, key := h.baseSource()
	if c, err = app.PublisherConfig(ctx, h.Confirm == string(publish.ConfirmSearch) || h.Rollout != nil, source != nil); err != nil {
		return c, err
	}
	c.Source, c.SourceKey = source, key
	c.Gate, c.ConfirmationMode, c.Rollout = managed.Gate(h.Gate), publish.ConfirmationMode(h.Confirm), h.Rollout.historyRollout()
	c.NewBaseLookup = func() func(host string) []byte {
		if h.BaseFile == "" && h.Base == baseUpstream {
			return publish.NewBaseLookup(c.Bases)
		}
		base, err := h.readBase()
		if base == nil && err == nil {
			base = []byte{} // No base is configured.
		}
		return func(string) []byte { return base }
	}
	return c, nil
}

// Start starts to publish the rules. It implements [caddymodule.ManagedStarter].
func (h *Handler) Start(place publish.HandlerPlace) (p *publish.Publisher, end func()) {
	if place.Name == "" { // Routes of an unknown handler contain this handler.
		place.Name = h.configKey()
	}
	return h.publisher, h.publisher.Begin(place)
}

// Interface guard
var _ caddymodule.ManagedStarter = (*Handler)(nil)
