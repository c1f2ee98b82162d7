package caddymodule

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/notify"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Validate returns an error for invalid or contradictory options.
func (h *Handler) Validate() error {
	if err := h.validateValues(); err != nil {
		return err
	}
	if timeout := cmp.Or(time.Duration(h.FetchTimeout), defaultFetchTimeout); time.Duration(h.FetchWait) > timeout {
		return fmt.Errorf("fetch_wait %s is longer than fetch_timeout %s; use a shorter fetch_wait", option.FormatDuration(h.FetchWait), timeout)
	}
	if h.Status != 0 && h.Status != http.StatusForbidden && len(h.OnViolation) > 0 {
		return errors.New("status and on_violation contradict each other; remove status, and send the status by a handler in on_violation")
	}
	if h.Shadow != nil && h.Source != nil && h.Shadow.URL == h.Source.URL && h.Shadow.File == h.Source.File {
		return errors.New("shadow and source are the same; remove shadow")
	}
	if h.FetchFrom != "" && h.Source != nil {
		return errors.New("fetch_from and source contradict each other; a URL or a file is read without a request to the site, so remove fetch_from")
	}
	return cmp.Or(h.Decide.ValidateWithOptions(h.Source, h.Shadow, h.OnViolation), h.Rate.ValidateForHandler(h.Decide == nil, h.Exempt, h.fixedRegistry), h.Source.Validate("source", h.AllowPrivate), h.Shadow.Validate("shadow", h.AllowPrivate))
}

// validateValues returns an error for the first invalid option. The Caddyfile adapter calls it
// after each line, to report the line.
func (h *Handler) validateValues() error {
	if h.Mode != "" && !slices.Contains(modeWords, h.Mode) {
		return unknownModeError(h.Mode)
	}
	if h.Mode != modeEnforce && len(h.EnforceOnly) > 0 {
		return errors.New("enforce_only has no effect unless the mode is enforce")
	}
	if min(h.FetchTimeout, h.FetchWait, h.ChangeGuard) < 0 {
		return errors.New("fetch_timeout, fetch_wait and change_guard have to be positive durations")
	}
	if min(h.TTLMin, h.TTLMax) < 0 || time.Duration(max(h.TTLMin, h.TTLMax)) > policy.MaxAge {
		return errors.New("ttl must be from 0 to 24h, the maximum for a cached copy in RFC 9309")
	}
	if h.TTLMax != 0 && h.TTLMin > h.TTLMax {
		return fmt.Errorf("ttl: the minimum %s is longer than the maximum %s", option.FormatDuration(h.TTLMin), option.FormatDuration(h.TTLMax))
	}
	if h.Status != 0 && (h.Status < 400 || h.Status > 599) {
		return fmt.Errorf("status %d is not an error status; use 403 or another status from 400 to 599", h.Status)
	}
	if ip, err := netip.ParseAddr(h.FetchFrom); h.FetchFrom != "" && (err != nil || !addr.MayBeFromInternet(ip)) {
		return fmt.Errorf("fetch_from %q is not a public IP address; the guard reads robots.txt as a client outside of your network, so use an address such as 203.0.113.7, without a port", h.FetchFrom)
	}
	return cmp.Or(
		option.CheckDurationUnits([]string{"fetch_timeout", "fetch_wait", "ttl_min", "ttl_max", "grace", "change_guard"}, h.FetchTimeout, h.FetchWait, h.TTLMin, h.TTLMax, h.Grace, h.ChangeGuard),
		option.CheckWord("unreachable", h.Unreachable, unreachableWords),
		option.CheckWord("spoofed", h.Spoofed, spoofedWords),
		h.Source.Validate("source", true), // The option allow_private may follow later in the block.
		h.Shadow.Validate("shadow", true),
		h.Decide.Validate(),
		h.Rate.Validate(h.registry),
		h.validateClients())
}

// validateClients checks the options with product tokens and classes. If h.registry is nil, every
// token is valid.
func (h *Handler) validateClients() error {
	s, err := h.settings(h.registry)
	if err = cmp.Or(err, s.CheckEnforced(h.fixedRegistry, h.EnforceOnly)); err != nil {
		return err
	}
	listed := make(map[string]string)
	names := []string{"exempt", "exempt verified", "only_log", "only_log verified", modeEnforce}
	for i, words := range [][]string{h.Exempt, h.ExemptVerified, h.OnlyLog, h.OnlyLogVerified, h.EnforceOnly} {
		for _, word := range words {
			before := listed[judge.FoldWord(word)]
			switch {
			case before == names[i]:
				return fmt.Errorf("%s names %s twice", names[i], word)
			case before == "exempt verified" && names[i] == "only_log":
				// This combination is useful: unverified clients are only logged.
			case strings.HasSuffix(before, " verified") && names[i] == modeEnforce:
				// This combination is useful: unverified clients are blocked.
			case before != "":
				return fmt.Errorf("%s is in %s and in %s; keep only one of the two", word, before, names[i])
			}
			listed[judge.FoldWord(word)] = names[i]
		}
	}
	for _, word := range h.Wildcard {
		if listed[judge.FoldWord(word)] == "exempt" {
			return fmt.Errorf("%s is in wildcard and in exempt; keep only one of the two", word)
		}
	}
	return nil
}

func unknownModeError(mode string) error {
	return fmt.Errorf("unknown mode %q; use %s, or enforce ai_training to block some only", mode, option.JoinWords(modeWords, "or"))
}

// These are the maximums of App.MaxPolicies, App.UnknownHosts and App.UnknownHostFetches, and the
// bounds of App.Retention.
const (
	maxPolicies           = 1_000_000
	maxUnknownHostFetches = 1000
	retentionRange        = "a time from 1h to 90d, such as 30d"
)

// Validate returns an error for invalid values.
func (a *App) Validate() error {
	if err := a.validateValues(); err != nil {
		return err
	}
	for _, c := range a.Crawlers {
		if a.Verify == nil && (len(c.Ranges)+len(c.RDNS) > 0 || c.WebBotAuth != "") {
			return fmt.Errorf("crawler %s: ranges, rdns and web_bot_auth are used by verify only, which is off; "+
				"add verify on, or verify { ranges configured } to read no other list", c.Token)
		}
	}
	return nil
}

// validateValues returns an error for the first invalid option. The Caddyfile adapter calls it
// after each line, to report the line.
func (a *App) validateValues() error {
	if r := time.Duration(a.Retention); r != 0 && (r < ledger.MinRetention || r > ledger.MaxRetention) {
		return fmt.Errorf("retention %s is out of range; use %s", option.FormatDuration(a.Retention), retentionRange)
	}
	for _, host := range a.Production {
		if host == "" || strings.ContainsAny(host, "/:{} ") {
			return fmt.Errorf("production: %q is not a host; write the host of a site without a port, such as www.example.com or *.example.com", host)
		}
	}
	v := cmp.Or(a.Verify, new(Verify))
	if v.Resolver != "" && v.NoRDNS {
		return errors.New("verify: resolver has no effect while rdns is off")
	}
	registry, err := a.RegistrySource.Resolve(a.Crawlers, true)
	if err != nil {
		return err
	}
	_, err = identity.SigningAgents(registry)
	// Lists and domains must be valid even if verify does not use them.
	checked := App{Verify: &Verify{Resolver: v.Resolver}, Crawlers: a.Crawlers}
	config := checked.verifierConfig(registry)
	return cmp.Or(
		option.CheckMaximum("policies", a.MaxPolicies, maxPolicies),
		option.CheckMaximum("unknown_hosts", a.UnknownHosts, maxPolicies),
		option.CheckMaximum("unknown_host_fetches", a.UnknownHostFetches, maxUnknownHostFetches),
		option.CheckWord("ranges", v.Ranges, rangesWords),
		notify.ValidateAll(a.receiverConfigs()),
		err,
		config.Validate())
}
