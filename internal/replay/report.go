package replay

import "time"

// Report is the result of [Run]. Lines is the sum of Malformed, OtherLines, OtherSiteLines,
// OtherTimeLines, Browsers and Requests. docs/audit.md documents the JSON.
type Report struct {
	Created time.Time    `json:"created"`
	Lines   uint64       `json:"lines"`
	Logs    []*LogReport `json:"logs"`
	// Malformed is the number of lines that are too long or not in the format of the log.
	Malformed uint64          `json:"malformed"`
	Examples  []MalformedLine `json:"malformed_examples,omitempty"`
	// OtherLines is the number of lines without a request to judge, such as empty lines, messages
	// of Caddy, requests without a path, and ACME challenges.
	OtherLines     uint64 `json:"other"`
	OtherSiteLines uint64 `json:"other_site"`
	OtherTimeLines uint64 `json:"other_time"`
	Browsers       uint64 `json:"browsers"`
	// Requests is the number of requests of all clients except browsers. All requests except
	// Disallowed, Stale and Exempt are allowed.
	Requests   uint64 `json:"requests"`
	Disallowed uint64 `json:"disallowed"`
	Stale      uint64 `json:"stale"`
	Exempt     uint64 `json:"exempt"`
	// First and Last are the times of the first and the last judged request. Both are nil for logs
	// without times.
	First    *time.Time      `json:"first"`
	Last     *time.Time      `json:"last"`
	Sites    []string        `json:"sites"`
	Hosts    []HostReport    `json:"hosts"`
	Robots   []VersionReport `json:"robots"`
	Classes  []ClassReport   `json:"classes"`
	Crawlers []CrawlerReport `json:"crawlers"`
	Rules    []RuleReport    `json:"rules"`
	Paths    []PathReport    `json:"paths"`
	// Findings are contradictions between the robots.txt and the responses to crawlers.
	Findings []FindingReport `json:"findings"`
	// Challenge is nil if [Options.Paths] is false.
	Challenge *ChallengeReport `json:"challenge,omitempty"`
	// Sources are the networks and crawlers whose requests mode enforce would have blocked. The
	// source with the most requests comes first. Empty if [Options.Sources] is false.
	Sources []Source `json:"-"`
	// Notes are sentences about what the report omits or assumes.
	Notes []string `json:"notes"`
	// Incomplete is the reason why some logs were not read to the end, or "".
	Incomplete string `json:"incomplete,omitempty"`

	noUserAgents bool // noUserAgents is true if no request has a User-Agent.
}

// LogReport has the format of a log and the number of its lines.
type LogReport struct {
	Name        string `json:"name"`
	Format      string `json:"format"`
	Compression string `json:"compression,omitempty"`
	Lines       int    `json:"lines"`
	Malformed   int    `json:"malformed"`
	Empty       bool   `json:"empty,omitempty"`
}

// MalformedLine is an example of a line that is too long or not in the format of the log.
type MalformedLine struct {
	Log     string `json:"log"`
	Line    int    `json:"line"`
	Problem string `json:"problem"`
	Text    string `json:"text"` // Text is the beginning of the line.
}

// HostReport has the number of lines about a host. With many hosts, rare hosts are missing, and the
// numbers of the other hosts may be too high.
type HostReport struct {
	Host  string `json:"host"`
	Lines uint64 `json:"lines"`
}

// VersionReport describes a version of the robots.txt by which requests were judged.
type VersionReport struct {
	Name      string     `json:"name"`
	From      *time.Time `json:"from"` // From is nil if the host has only one version.
	RuleCount int        `json:"rules"`
}

// ClassReport has the counts of all clients of a class. WouldBlock is the number of requests that
// mode enforce would have blocked.
type ClassReport struct {
	Class      string `json:"class"`
	Crawlers   int    `json:"crawlers"`
	Requests   uint64 `json:"requests"`
	Disallowed uint64 `json:"disallowed"`
	Stale      uint64 `json:"stale"`
	Exempt     uint64 `json:"exempt"`
	WouldBlock uint64 `json:"would_block"`
}

// CrawlerReport has the counts of the clients that claim a crawler's name. Token is "_other" for
// all clients of the class whose names are in neither the registry nor the robots.txt.
type CrawlerReport struct {
	Token         string `json:"token"`
	Class         string `json:"class"`
	Requests      uint64 `json:"requests"`
	Allowed       uint64 `json:"allowed"`
	Disallowed    uint64 `json:"disallowed"`
	Stale         uint64 `json:"stale"`
	Exempt        uint64 `json:"exempt"`
	RobotsFetches uint64 `json:"robots_requests"`
	// LastRobotsFetch is the time of the last successful robots.txt fetch. It is nil if there was
	// none, or if the log has no times.
	LastRobotsFetch *time.Time `json:"robots_read"`
	// RobotsStatus is the status of the last successful robots.txt fetch, or 0 if there was none.
	RobotsStatus int        `json:"robots_status"`
	LastRequest  *time.Time `json:"last"` // LastRequest is the time of the last request.
	// Responses is nil if the log has no status codes.
	Responses *ResponsesReport `json:"answers,omitempty"`
	// Rate is nil if no limit applies to the crawler, or [Options.Rate] is nil.
	Rate *RateReport `json:"rate,omitempty"`
}

// RuleReport has the number of requests that violated a rule, by crawler.
type RuleReport struct {
	Rule     string         `json:"rule"`
	Line     int            `json:"line"`
	Group    string         `json:"group"`
	Robots   string         `json:"robots"` // Robots is the name of the version.
	Requests uint64         `json:"requests"`
	Crawlers []RuleCrawlers `json:"crawlers"`
}

// RuleCrawlers has the number of requests by which a crawler violated a rule.
type RuleCrawlers struct {
	Token    string `json:"token"`
	Requests uint64 `json:"requests"`
}

// PathReport has the number of requests of a crawler for a disallowed path. Requests may be too
// high by up to CountError, because rare paths are not counted exactly.
type PathReport struct {
	Path       string `json:"path"`
	Token      string `json:"token"`
	Requests   uint64 `json:"requests"`
	CountError uint64 `json:"excess"`
}
