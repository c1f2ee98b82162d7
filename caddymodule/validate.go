package caddymodule

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Validate checks the configuration for values that mean nothing and for
// settings that contradict each other.
func (h *Handler) Validate() error {
	switch h.Mode {
	case "", modeMonitor, modeEnforce:
	default:
		return fmt.Errorf("mode %q is not known; use monitor or enforce", h.Mode)
	}
	switch h.Unreachable {
	case "", unreachableLastGood, unreachableAllow, unreachableDisallow, unreachableGoogle:
	default:
		return fmt.Errorf("unreachable %q is not known; use last_good, allow, disallow or disallow_google", h.Unreachable)
	}
	switch h.Spoofed {
	case "", spoofedJudge, spoofedBlock, spoofedLog:
	default:
		return fmt.Errorf("spoofed %q is not known; use judge, block or log", h.Spoofed)
	}
	if h.FetchTimeout < 0 || h.FetchWait < 0 {
		return fmt.Errorf("fetch_timeout and fetch_wait have to be positive durations")
	}
	if timeout := h.fetchTimeout(); time.Duration(h.FetchWait) > timeout {
		return fmt.Errorf("fetch_wait %s is longer than fetch_timeout %s; no request can wait longer than the fetch takes",
			time.Duration(h.FetchWait), timeout)
	}
	if h.TTLMin < 0 || h.TTLMax < 0 || time.Duration(max(h.TTLMin, h.TTLMax)) > policy.MaxAge {
		return fmt.Errorf("ttl has to be between 0 and 24h, the longest that RFC 9309 lets a copy be used")
	}
	if h.TTLMax != 0 && h.TTLMin > h.TTLMax {
		return fmt.Errorf("ttl: the minimum %s is longer than the maximum %s", time.Duration(h.TTLMin), time.Duration(h.TTLMax))
	}
	if h.ChangeGuard < 0 {
		return fmt.Errorf("change_guard has to be a positive duration; leave it out to turn it off")
	}
	if h.Status != 0 && (h.Status < 400 || h.Status > 599) {
		return fmt.Errorf("status %d is no error; use 403 or another one from 400 to 599", h.Status)
	}
	if h.Status != 0 && h.Status != http.StatusForbidden && len(h.OnViolation) > 0 {
		return fmt.Errorf("status and on_violation contradict each other; answer with that status in on_violation")
	}
	if err := h.Source.validate(h.AllowPrivate); err != nil {
		return err
	}
	return h.validateClients()
}

// validateClients checks the lists of product tokens and classes.
func (h *Handler) validateClients() error {
	if _, err := parseClasses(h.Wildcard); err != nil {
		return fmt.Errorf("wildcard: %w", err)
	}
	listed := make(map[string]string)
	for _, list := range []struct {
		name  string
		words []string
	}{
		{"exempt", h.Exempt}, {"exempt verified", h.ExemptVerified},
		{"only_log", h.OnlyLog}, {"only_log verified", h.OnlyLogVerified},
	} {
		if _, err := parseSelector(uaident.Default(), list.words, false); err != nil {
			return fmt.Errorf("%s: %w", list.name, err)
		}
		for _, word := range list.words {
			// Verified ones may be exempt while the others are only logged.
			if before, ok := listed[foldName(word)]; ok && !(before == "exempt verified" && list.name == "only_log") {
				if before == list.name {
					return fmt.Errorf("%s names %s twice", list.name, word)
				}
				return fmt.Errorf("%s is in %s and in %s; keep it in one of them", word, before, list.name)
			}
			listed[foldName(word)] = list.name
		}
	}
	for _, word := range h.Wildcard {
		if listed[foldName(word)] == "exempt" {
			return fmt.Errorf("%s is in wildcard and in exempt; keep it in one of them", word)
		}
	}
	return nil
}

func (h *Handler) fetchTimeout() time.Duration {
	if h.FetchTimeout == 0 {
		return defaultFetchTimeout
	}
	return time.Duration(h.FetchTimeout)
}

// validate checks a source as far as that can be done without using it.
func (s *Source) validate(allowPrivate bool) error {
	if s == nil {
		return nil
	}
	if (s.URL == "") == (s.File == "") {
		return fmt.Errorf("source needs either a URL or a file")
	}
	if s.File != "" {
		return nil
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return fmt.Errorf("source %q is no URL: %w", s.URL, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("source %q is no http or https URL; use server, a URL such as https://example.com/robots.txt, or file <path>", s.URL)
	}
	if u.User != nil || u.Fragment != "" {
		return fmt.Errorf("source %q: credentials and fragments are not sent; remove them", u.Redacted())
	}
	if addr, err := netip.ParseAddr(u.Hostname()); !allowPrivate && (err == nil && !isPublic(addr) || u.Hostname() == "localhost") {
		return fmt.Errorf("source %q is a private address; write allow_private on if that is meant", s.URL)
	}
	return nil
}
