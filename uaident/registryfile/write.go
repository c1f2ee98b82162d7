package registryfile

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// entryJSON is the JSON form of a registry entry.
type entryJSON struct {
	Token              string            `json:"token"`
	Operator           string            `json:"operator,omitempty"`
	Class              string            `json:"class"`
	UserTriggered      bool              `json:"user_triggered,omitempty"`
	Wildcard           *bool             `json:"wildcard,omitempty"`
	Fallback           []string          `json:"fallback,omitempty"`
	Aliases            []string          `json:"aliases,omitempty"`
	RobotsOnly         bool              `json:"robots_only,omitempty"`
	Controls           string            `json:"controls,omitempty"`
	Family             bool              `json:"family,omitempty"`
	App                bool              `json:"app,omitempty"`
	ExactCase          bool              `json:"exact_case,omitempty"`
	Verification       *verificationJSON `json:"verification,omitempty"`
	Source             string            `json:"source,omitempty"`
	Checked            string            `json:"checked,omitempty"`
	Provenance         string            `json:"provenance,omitempty"`
	CrawlDelay         string            `json:"crawl_delay,omitempty"`
	CrawlDelayMax      int               `json:"crawl_delay_max,omitempty"` // The unit is the second.
	CrawlDelayWildcard bool              `json:"crawl_delay_wildcard,omitempty"`
	CrawlDelaySource   string            `json:"crawl_delay_source,omitempty"`
	Purposes           []string          `json:"purposes,omitempty"`
	PurposesSource     string            `json:"purposes_source,omitempty"`
	RobotsLag          int               `json:"robots_lag,omitempty"` // The unit is the second.
	RobotsLagSource    string            `json:"robots_lag_source,omitempty"`
}

type verificationJSON struct {
	RDNS          []string `json:"rdns,omitempty"`
	Ranges        []string `json:"ranges,omitempty"`
	PartialRanges []string `json:"confirming_ranges,omitempty"`
	WebBotAuth    string   `json:"web_bot_auth,omitempty"`
	IsThirdParty  bool     `json:"unsure,omitempty"`
}

// AppendEntry appends a registry entry as a JSON object to dst, in one line.
func AppendEntry(dst []byte, c *uaident.Crawler) []byte {
	w := entryJSON{
		Token: c.Token, Operator: c.Operator, Class: c.Class.String(), UserTriggered: c.UserTriggered, Fallback: c.Fallback, Aliases: c.Aliases,
		RobotsOnly: c.RobotsOnly, Controls: c.Controls, Family: c.Family, App: c.App, ExactCase: c.ExactCase, Source: c.Source, Checked: c.Checked,
		CrawlDelayMax: int(c.CrawlDelay.Max / time.Second), CrawlDelayWildcard: c.CrawlDelay.FallsBackToWildcard, CrawlDelaySource: c.CrawlDelay.Source,
		Purposes: c.Purposes.Set.Names(), PurposesSource: c.Purposes.Source,
		RobotsLag: int(c.RobotsLag.Max / time.Second), RobotsLagSource: c.RobotsLag.Source,
	}
	if c.Wildcard != uaident.WildcardByClass {
		wildcardOn := c.Wildcard == uaident.WildcardOn
		w.Wildcard = &wildcardOn
	}
	if v := c.Verification; len(v.RDNS)+len(v.Ranges)+len(v.PartialRanges)+len(v.WebBotAuth) > 0 || v.IsThirdParty {
		w.Verification = &verificationJSON{v.RDNS, v.Ranges, v.PartialRanges, v.WebBotAuth, v.IsThirdParty}
	}
	if c.CrawlDelay.Source != "" {
		w.CrawlDelay = c.CrawlDelay.Support.String()
	}
	switch {
	case c.Provenance != uaident.Documented:
		w.Provenance = provenances[c.Provenance]
	case c.Source == "": // This can be an entry that the site's owner added.
		w.Provenance = provenances[uaident.Unsourced]
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(&w) // This cannot fail, because entryJSON contains only JSON types.
	return append(dst, bytes.TrimRight(b.Bytes(), "\n")...)
}
