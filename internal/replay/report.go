package replay

import "time"

// Report is what a replay found. Lines is the sum of Malformed, Other,
// OtherSite, OtherTime, Browsers and Requests. docs/audit.md documents the JSON
// that it makes.
type Report struct {
	Created time.Time    `json:"created"`
	Lines   uint64       `json:"lines"`
	Logs    []*LogReport `json:"logs"`
	// Malformed lines are no lines of their log's format, or too long.
	Malformed uint64    `json:"malformed"`
	Examples  []Example `json:"malformed_examples,omitempty"`
	// Other lines hold no request that can be judged.
	Other     uint64 `json:"other"`
	OtherSite uint64 `json:"other_site"`
	OtherTime uint64 `json:"other_time"`
	Browsers  uint64 `json:"browsers"`
	// Requests are those of all clients that are no browsers. What they do not
	// say is allowed.
	Requests   uint64 `json:"requests"`
	Disallowed uint64 `json:"disallowed"`
	Stale      uint64 `json:"stale"`
	Exempt     uint64 `json:"exempt"`
	// First and Last are the times of the first and last request of the site,
	// nil if the logs have no times.
	First    *time.Time      `json:"first"`
	Last     *time.Time      `json:"last"`
	Sites    []string        `json:"sites"`
	Hosts    []HostReport    `json:"hosts"`
	Robots   []VersionReport `json:"robots"`
	Classes  []ClassReport   `json:"classes"`
	Crawlers []CrawlerReport `json:"crawlers"`
	Rules    []RuleReport    `json:"rules"`
	Paths    []PathReport    `json:"paths"`
	// Findings are where the answers to crawlers contradict the robots.txt.
	Findings []FindingReport `json:"findings"`
	// Challenge is absent if [Options.Paths] is false.
	Challenge *ChallengeReport `json:"challenge,omitempty"`
	// Sources are from where crawlers sent requests that enforce would have blocked, if that was
	// asked for, the one with the most requests first.
	Sources []Source `json:"-"`
	// Notes are sentences about what limits the report.
	Notes []string `json:"notes"`
	// Incomplete says why not all was read, if so.
	Incomplete string `json:"incomplete,omitempty"`

	unnamed bool // no request has a User-Agent
}

// LogReport is about one log.
type LogReport struct {
	Name        string `json:"name"`
	Format      string `json:"format"`
	Compression string `json:"compression,omitempty"`
	Lines       int    `json:"lines"`
	Malformed   int    `json:"malformed"`
	Empty       bool   `json:"empty,omitempty"`
}

// Example is a malformed line.
type Example struct {
	Log     string `json:"log"`
	Line    int    `json:"line"`
	Problem string `json:"problem"`
	Text    string `json:"text"` // its start
}

// HostReport is a host that the logs name. Of many, the rarer are left out and
// the counts of others may be too high.
type HostReport struct {
	Host  string `json:"host"`
	Lines uint64 `json:"lines"`
}

// VersionReport is a version of the robots.txt.
type VersionReport struct {
	Name  string     `json:"name"`
	From  *time.Time `json:"from"` // nil for the only one
	Rules int        `json:"rules"`
}

// ClassReport is about all clients of a class. WouldBlock is what the handler
// would have refused in the mode enforce.
type ClassReport struct {
	Class      string `json:"class"`
	Crawlers   int    `json:"crawlers"`
	Requests   uint64 `json:"requests"`
	Disallowed uint64 `json:"disallowed"`
	Stale      uint64 `json:"stale"`
	Exempt     uint64 `json:"exempt"`
	WouldBlock uint64 `json:"would_block"`
}

// CrawlerReport is about a crawler, as it calls itself. "_other" stands for all
// clients of the class whose names neither the registry nor the robots.txt has.
type CrawlerReport struct {
	Token          string     `json:"token"`
	Class          string     `json:"class"`
	Requests       uint64     `json:"requests"`
	Allowed        uint64     `json:"allowed"`
	Disallowed     uint64     `json:"disallowed"`
	Stale          uint64     `json:"stale"`
	Exempt         uint64     `json:"exempt"`
	RobotsRequests uint64     `json:"robots_requests"`
	RobotsRead     *time.Time `json:"robots_read"`   // when it last got it, nil for never
	RobotsStatus   int        `json:"robots_status"` // the status it got then, 0 for never
	Last           *time.Time `json:"last"`          // its last request
	// Answers is absent where the log has no status of its requests.
	Answers *AnswersReport `json:"answers,omitempty"`
	// Rate is absent without limits or without [Options.Rate].
	Rate *RateReport `json:"rate,omitempty"`
}

// RuleReport is about a rule that was broken.
type RuleReport struct {
	Rule     string         `json:"rule"`
	Line     int            `json:"line"`
	Group    string         `json:"group"`
	Robots   string         `json:"robots"` // the name of the version
	Requests uint64         `json:"requests"`
	Crawlers []RuleCrawlers `json:"crawlers"`
}

// RuleCrawlers is who broke a rule.
type RuleCrawlers struct {
	Token    string `json:"token"`
	Requests uint64 `json:"requests"`
}

// PathReport is a path that a crawler asked for although it must not. Excess is
// by how much Requests may be too high, where there were too many paths to count
// each.
type PathReport struct {
	Path     string `json:"path"`
	Token    string `json:"token"`
	Requests uint64 `json:"requests"`
	Excess   uint64 `json:"excess"`
}
