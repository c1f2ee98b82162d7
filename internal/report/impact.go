package report

// EnforceImpact shows which requests of the window the mode enforce blocks or would have blocked.
type EnforceImpact struct {
	ViewHeader
	RequestCounts
	Previous *RequestCounts `json:"previous,omitempty"` // Previous are the numbers of the previous period.
	// BlockedByEnforce is the sum of Blocked and WouldBlock.
	BlockedByEnforce uint64 `json:"blockable"`
	// ByClass lists the classes of crawlers: search engines first, then by BlockedByEnforce,
	// highest first.
	ByClass []ClassImpact `json:"by_class"`
	Modes   []SiteMode    `json:"modes"`
}

// SiteMode is the current mode of a site.
type SiteMode struct {
	Site string `json:"site"`
	Mode string `json:"mode,omitempty"` // see SiteSummary.Mode
}

// ClassImpact shows the effect of enforce on the crawlers of one class.
type ClassImpact struct {
	Class string `json:"class"`
	RequestCounts
	BlockedByEnforce uint64 `json:"blockable"`
	// Crawlers are the crawlers of the class, highest BlockedByEnforce first.
	Crawlers []CrawlerImpact `json:"crawlers"`
}

// CrawlerImpact shows the effect of enforce on one crawler.
type CrawlerImpact struct {
	ID         string            `json:"id"`
	Token      string            `json:"token"`
	Operator   string            `json:"operator,omitempty"`
	Names      []ClientNameCount `json:"names,omitempty"` // see Crawler.Names
	Identities Identities        `json:"identities"`
	RequestCounts
	BlockedByEnforce uint64 `json:"blockable"`
	// Rules are the rules that disallow most of the crawler's requests, at most 5.
	Rules []RuleCount `json:"rules"`
}
