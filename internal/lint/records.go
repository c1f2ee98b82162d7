package lint

import (
	"net/url"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// checkRecords adds findings about records: lines other than User-agent, Allow and Disallow.
func (c *checker) checkRecords() {
	reported := make(map[string]bool)
	for _, r := range c.robots.Records() {
		key := strings.ToLower(r.Key)
		if r.Group < 0 && appliesToGroup(key) {
			c.addOncePerFile(RecordOutsideGroup, r.Line, "this line comes before the first user-agent line and applies to no crawler; write User-agent: * above it")
		}
		switch key {
		case "sitemap", "site-map":
			c.checkSitemap(r)
		case "crawl-delay":
			c.checkDelay(r)
		case "license":
			c.checkLicensePlace(r)
			if u, err := url.Parse(r.Value); err != nil || u.Scheme == "" || u.Host == "" {
				c.addValueFinding(RelativeLicenseURL, r.Line, "%s is not an absolute URL, which Really Simple Licensing requires; begin it with https://", quoteExcerpt(r.Value))
			}
		}
		if reported[key] {
			continue
		}
		reported[key] = true
		c.explainRecord(key, r)
	}
}

// appliesToGroup reports whether lines with this key apply only to the crawlers of their group.
func appliesToGroup(key string) bool {
	switch key {
	case "crawl-delay", "request-rate", "content-signal", "content-usage":
		return true
	}
	return false
}

// explainRecord adds a finding about which crawlers read lines with this key.
func (c *checker) explainRecord(key string, r policy.Record) {
	at := c.lineByNumber(r.Line).keyColumn()
	switch key {
	case "host":
		c.addFinding(HostIgnored, r.Line, at, "no crawler reads Host since Yandex dropped it in 2018; redirect to the main host instead")
	case "clean-param":
		c.addFinding(CleanParam, r.Line, at, "only Yandex reads Clean-param; use canonical links for other crawlers")
	case "noindex":
		c.addFinding(Noindex, r.Line, at, "no crawler reads Noindex in a robots.txt since Google dropped it in 2019; send X-Robots-Tag: noindex and let crawlers fetch the page")
	case "request-rate", "visit-time", "nofollow":
		c.addFinding(IgnoredRecord, r.Line, at, "hardly any crawler reads %s (Seznam documents Request-rate); do not rely on it", r.Key)
	case "content-signal":
		c.addFinding(ContentSignal, r.Line, at, "Content-Signal states permitted uses of content, by the policy at contentsignals.org; the line does not block fetching, and no large operator has promised to obey")
	case "content-usage":
		c.addFinding(ContentUsage, r.Line, at, "Content-Usage is a draft of the IETF working group AIPREF; the line does not block fetching, and no large operator has promised to obey")
	case "license":
		c.addFinding(License, r.Line, at, "License links to terms by Really Simple Licensing (rslstandard.org); the line does not block fetching, and few crawlers read License")
	case "disallowaitraining":
		c.addFinding(NoAITraining, r.Line, at, "DisallowAITraining is not standardized, and Google's library reads it as Disallow; write groups for the AI crawlers instead")
	case "llm-policy":
		c.addFinding(LLMPolicy, r.Line, at, "LLM-Policy is not standardized, and no crawler is known to read it; write groups for the AI crawlers instead")
	}
}

// checkSitemap adds a finding if the URL of a sitemap is relative or on another host (sitemaps.org,
// "Informing search engine crawlers").
func (c *checker) checkSitemap(r policy.Record) {
	u, err := url.Parse(r.Value)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		c.addValueFinding(RelativeSitemapURL, r.Line, "%s is not an absolute URL, so crawlers ignore it; begin it with https:// and the host", quoteExcerpt(r.Value))
		return
	}
	if own, err := url.Parse(c.options.Site); err == nil && own.Host != "" && !strings.EqualFold(own.Hostname(), u.Hostname()) {
		c.addValueFinding(SitemapOnOtherHost, r.Line, "the sitemap is on %s and not on %s; move the sitemap, unless it lists URLs of this site", quoteExcerpt(u.Hostname()), quoteExcerpt(own.Hostname()))
	}
}

// checkLicensePlace adds a finding for a License line inside a group, because License applies to
// the whole file.
func (c *checker) checkLicensePlace(r policy.Record) {
	i, _ := slices.BinarySearchFunc(c.groups, r.Line, func(g policy.Group, line int) int {
		if g.Agents[0].Line > line {
			return 1
		}
		return -1
	})
	if i == 0 {
		return
	}
	g := c.groups[i-1] // This is the last group that begins before the line.
	last := g.Agents[len(g.Agents)-1].Line
	if len(g.Rules) > 0 {
		last = max(last, g.Rules[len(g.Rules)-1].Line)
	}
	if r.Line < last {
		c.addFinding(LicenseInGroup, r.Line, c.lineByNumber(r.Line).keyColumn(), "License is about the whole file and not about the crawlers of this group; write it above the first group")
	}
}
