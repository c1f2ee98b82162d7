package report

// Impact is what enforce would have done in the window, and what it did.
type Impact struct {
	Head
	Counts
	Previous *Counts `json:"previous,omitempty"` // of the period before
	// Blockable is Blocked and WouldBlock together: what enforce means.
	Blockable uint64 `json:"blockable"`
	// ByClass are the classes that were seen, search engines first and then those
	// with the most requests that enforce would block.
	ByClass []ImpactClass `json:"by_class"`
	Modes   []SiteMode    `json:"modes"`
}

// SiteMode is the mode of a site now.
type SiteMode struct {
	Site string `json:"site"`
	Mode string `json:"mode,omitempty"` // see Site.Mode
}

// ImpactClass is the impact on the crawlers of one class.
type ImpactClass struct {
	Class string `json:"class"`
	Counts
	Blockable uint64 `json:"blockable"`
	// Crawlers are those that were seen, most blockable requests first.
	Crawlers []ImpactCrawler `json:"crawlers"`
}

// ImpactCrawler is the impact on one crawler.
type ImpactCrawler struct {
	ID         string     `json:"id"`
	Token      string     `json:"token"`
	Operator   string     `json:"operator,omitempty"`
	Identities Identities `json:"identities"`
	Counts
	Blockable uint64 `json:"blockable"`
	// Rules are those that it broke most: at most 5.
	Rules []RuleCount `json:"rules"`
}
