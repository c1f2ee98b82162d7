package replay

import "time"

// Report is the result of a replay. Lines is the sum of Malformed, Other, OtherSiteLines, OtherTimeLines,
// Browsers and Requests. docs/audit.md documents the JSON.
type Report struct {
	Created time.Time    `json:"created"`
	Lines   uint64       `json:"lines"`
	Logs    []*LogReport `json:"logs"`
	// Malformed is the number of lines that are too long or not in the format of the log.
	Malformed uint64          `json:"malformed"`
	Examples  []MalformedLine `json:"malformed_examples,omitempty"`
	// OtherLines is the number of lines without a request to judge.
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
	// First and Last are the times of the first and the last request of the site. Both are nil for
	// logs without times.
	First    *time.Time      `json:"first"`
	Last     *time.Time      `json:"last"`
	Sites    []string        `json:"sites"`
	Hosts    []HostReport    `json:"hosts"`
	Robots   []VersionReport `json:"robots"`
	Classes  []ClassReport   `json:"classes"`
	Crawlers []CrawlerReport `json:"crawlers"`
	Rules    []RuleReport    `json:"rules"`
	Paths    []PathReport    `json:"paths"`
	// Findings are responses to crawlers that contradict the robots.txt.
	Findings []FindingReport `json:"findings"`
	// Challenge is absent if [Options.Paths] is false.
	Challenge *ChallengeReport `json:"challenge,omitempty"`
	// Sources are the networks of requests that mode enforce would have blocked, sorted by
	// requests, descending. Empty without [Options.Sources].
	Sources []Source `json:"-"`
	// Notes are sentences about the limits of the report.
	Notes []string `json:"notes"`
	// Incomplete is the reason if some logs were not read to the end.
	Incomplete string `json:"incomplete,omitempty"`

	noUserAgents bool // no request has a User-Agent
}

// LogReport describes a log.
type LogReport struct {
	Name        string `json:"name"`
	Format      string `json:"format"`
	Compression string `json:"compression,omitempty"`
	Lines       int    `json:"lines"`
	Malformed   int    `json:"malformed"`
	Empty       bool   `json:"empty,omitempty"`
}

// MalformedLine is a malformed line.
type MalformedLine struct {
	Log     string `json:"log"`
	Line    int    `json:"line"`
	Problem string `json:"problem"`
	Text    string `json:"text"` // the start of the line
}

// HostReport is a host in the logs. With many hosts, rare hosts are missing, and the numbers of the
// other hosts may be too high.
type HostReport struct {
	Host  string `json:"host"`
	Lines uint64 `json:"lines"`
}

// VersionReport describes a version of the robots.txt.
type VersionReport struct {
	Name      string     `json:"name"`
	From      *time.Time `json:"from"` // nil if the host has one version only
	RuleCount int        `json:"rules"`
}

// ClassReport sums up all clients of a class. WouldBlock is the number of requests that mode
// enforce would have blocked.
type ClassReport struct {
	Class      string `json:"class"`
	Crawlers   int    `json:"crawlers"`
	Requests   uint64 `json:"requests"`
	Disallowed uint64 `json:"disallowed"`
	Stale      uint64 `json:"stale"`
	Exempt     uint64 `json:"exempt"`
	WouldBlock uint64 `json:"would_block"`
}

// CrawlerReport describes a crawler by its claimed name. "_other" is the sum of all clients of the
// class whose names are missing in the registry and the robots.txt.
type CrawlerReport struct {
	Token           string     `json:"token"`
	Class           string     `json:"class"`
	Requests        uint64     `json:"requests"`
	Allowed         uint64     `json:"allowed"`
	Disallowed      uint64     `json:"disallowed"`
	Stale           uint64     `json:"stale"`
	Exempt          uint64     `json:"exempt"`
	RobotsFetches   uint64     `json:"robots_requests"`
	LastRobotsFetch *time.Time `json:"robots_read"`   // the time of the last robots.txt fetch; nil for never
	RobotsStatus    int        `json:"robots_status"` // the status of the last robots.txt fetch; 0 for never
	LastRequest     *time.Time `json:"last"`          // the last request
	// Responses is absent if the log has no status codes.
	Responses *ResponsesReport `json:"answers,omitempty"`
	// Rate is absent without limits or without [Options.Rate].
	Rate *RateReport `json:"rate,omitempty"`
}

// RuleReport describes a rule with violations.
type RuleReport struct {
	Rule     string         `json:"rule"`
	Line     int            `json:"line"`
	Group    string         `json:"group"`
	Robots   string         `json:"robots"` // the name of the version
	Requests uint64         `json:"requests"`
	Crawlers []RuleCrawlers `json:"crawlers"`
}

// RuleCrawlers has the number of violations of a rule by a crawler.
type RuleCrawlers struct {
	Token    string `json:"token"`
	Requests uint64 `json:"requests"`
}

// PathReport has the number of requests of a crawler for a disallowed path. CountError is the possible
// error of Requests, which is an estimate if the logs have too many paths.
type PathReport struct {
	Path       string `json:"path"`
	Token      string `json:"token"`
	Requests   uint64 `json:"requests"`
	CountError uint64 `json:"excess"`
}
