package report

// Impact is the effect of enforce in the window.
type Impact struct {
	ViewHeader
	Counts
	Previous *Counts `json:"previous,omitempty"` // of the previous period
	// BlockedByEnforce is the sum of Blocked and WouldBlock.
	BlockedByEnforce uint64 `json:"blockable"`
	// ByClass lists classes: search engines first, then by number of blockable requests.
	ByClass []ImpactClass `json:"by_class"`
	Modes   []SiteMode    `json:"modes"`
}

// SiteMode is the mode of a site now.
type SiteMode struct {
	Site string `json:"site"`
	Mode string `json:"mode,omitempty"` // see Site.Mode
}

// ImpactClass is the effect on the crawlers of one class.
type ImpactClass struct {
	Class string `json:"class"`
	Counts
	BlockedByEnforce uint64 `json:"blockable"`
	// Crawlers are the crawlers of the class, most blockable requests first.
	Crawlers []ImpactCrawler `json:"crawlers"`
}

// ImpactCrawler is the effect on one crawler.
type ImpactCrawler struct {
	ID         string      `json:"id"`
	Token      string      `json:"token"`
	Operator   string      `json:"operator,omitempty"`
	Names      []NameCount `json:"names,omitempty"` // see Crawler.Names
	Identities Identities  `json:"identities"`
	Counts
	BlockedByEnforce uint64 `json:"blockable"`
	// Rules are the rules with the most disallowed requests, at most 5.
	Rules []RuleCount `json:"rules"`
}
