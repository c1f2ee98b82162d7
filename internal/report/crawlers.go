package report

import (
	"time"
)

// Crawlers is the list of all crawlers, by number of disallowed requests and then by number
// of requests.
type Crawlers struct {
	ViewHeader
	Total    int       `json:"total"` // on all pages
	Crawlers []Crawler `json:"crawlers"`
	// AgainstPreference lists the requests against preferences by class, most requests first.
	AgainstPreference []AgainstPreference `json:"against,omitempty"`
	Next              string              `json:"next,omitempty"` // value of after for the next page
}

// Crawler is a crawler at all sites of the filter.
type Crawler struct {
	ID              string `json:"id"` // parameter for the detail view: token, or token and class for _other
	Token           string `json:"token"`
	Operator        string `json:"operator,omitempty"`
	Documentation   string `json:"documentation,omitempty"` // the operator's page about the crawler
	Class           string `json:"class"`
	UserTriggered   bool   `json:"user_triggered,omitempty"` // fetches on a person's action
	WildcardApplies bool   `json:"wildcard"`                 // the * group applies by default
	// Names are the clients sharing the token _other or _spoofed, most frequent first, at
	// most 20 in a list.
	Names []NameCount `json:"names,omitempty"`
	// SpoofedRequests is the number of requests by spoofed clients with this name. The requests
	// belong to the token _spoofed.
	SpoofedRequests uint64 `json:"impostors,omitempty"`
	// Identities are the numbers of requests by identity.
	Identities Identities `json:"identities"`
	Counts
	// Previous are the numbers of the previous period. See ViewHeader.PreviousFrom.
	Previous   *Counts  `json:"previous,omitempty"`
	Compliance *float64 `json:"compliance,omitempty"` // percent; absent without judged requests
	// TopPath is the most frequent disallowed path, if any.
	TopPath *Violation `json:"top_path,omitempty"`
	// Action is the current action for its disallowed requests: none (no such requests),
	// logged or blocked.
	Action    string    `json:"action"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	// ViolatingSince is the time of the first disallowed request.
	ViolatingSince time.Time `json:"violating_since,omitzero"`
	// RobotsFetch is the last robots fetch, if any.
	RobotsFetch *RobotsFetch `json:"read,omitempty"`
	// RequestsSinceFetch is the number of requests since RobotsFetch, or of all requests.
	RequestsSinceFetch uint64      `json:"since_read"`
	Rate               RequestRate `json:"rate"`
	Sparkline          Sparkline   `json:"sparkline"`
	// AgainstPreference is the number of requests against a preference, if any.
	AgainstPreference *AgainstPreference `json:"against,omitempty"`
}

// AgainstPreference has the numbers of requests for pages although the robots.txt has a preference
// against the use. The requests are allowed, because a preference disallows no requests.
type AgainstPreference struct {
	Class      string `json:"class"`    // class of the crawlers
	Preference string `json:"stated"`   // the preference, such as "train-ai=n"
	Requests   uint64 `json:"requests"` // requests in the window
	AfterFetch uint64 `json:"known"`    // by crawlers that had fetched the file with the preference
}

// Identities are numbers of requests by identity.
type Identities struct {
	Verified uint64 `json:"verified"`
	Claimed  uint64 `json:"claimed"`
	Unknown  uint64 `json:"unknown"`
	Spoofed  uint64 `json:"spoofed"`
}

// RobotsFetch is a crawler's last robots fetch.
type RobotsFetch struct {
	Site   string    `json:"site"`
	At     time.Time `json:"at"`
	Status int       `json:"status"`
	// Version is absent after a 304 or for a compressed body, because the guard did not see
	// the body.
	Version string `json:"version,omitempty"`
	// Current reports whether Version is the site's current version.
	Current bool `json:"current"`
}

// RequestRate is the current request rate of a crawler at the site with the highest rate.
type RequestRate struct {
	// PerMinute is the average of the last five minutes, and PerMinuteOfDay of the last 24 hours. PeakPerMinute
	// is the maximum number of requests in a minute of the last six hours.
	PerMinute      float64 `json:"per_minute"`
	PerMinuteOfDay float64 `json:"per_minute_day"`
	PeakPerMinute  uint64  `json:"peak"`
	// CrawlDelay is the delay in the robots.txt in seconds, or 0, and DelayLine its line. RFC
	// 9309 does not define a delay. CrawlDelaySupport is the operator's documented behavior: obeys,
	// ignores or undocumented.
	CrawlDelay        float64 `json:"crawl_delay,omitempty"`
	DelayLine         int     `json:"crawl_delay_line,omitempty"`
	CrawlDelaySupport string  `json:"crawl_delay_habit,omitempty"`
	// Exceeds reports whether the crawler sent more than ten requests in the last five
	// minutes and more than 1.5 times the rate of CrawlDelay. Exceeds is false for a crawler
	// that ignores Crawl-delay.
	Exceeds bool `json:"exceeds"`
}

// CrawlerDetail is the detail view of a crawler.
type CrawlerDetail struct {
	ViewHeader
	Crawler       Crawler        `json:"crawler"`
	SitesSeen     []CrawlerSite  `json:"sites_seen"`
	Series        Series         `json:"series"`
	Marks         []Mark         `json:"marks"`    // of its sites, see Summary.Marks
	Rules         []RuleCount    `json:"rules"`    // most frequent first
	Paths         []Violation    `json:"paths"`    // most frequent first
	RecentSamples []Sample       `json:"recent"`   // last disallowed requests, newest first
	Agents        []UserAgent    `json:"agents"`   // most frequent first
	Networks      []NetworkCount `json:"networks"` // most frequent first
}

// CrawlerSite is the data about a crawler at a site.
type CrawlerSite struct {
	Site string `json:"site"`
	Counts
	RobotsFetch        *RobotsFetch `json:"read,omitempty"`
	RequestsSinceFetch uint64       `json:"since_read"`
	Rate               RequestRate  `json:"rate"`
	FirstSeen          time.Time    `json:"first_seen"`
	LastSeen           time.Time    `json:"last_seen"`
}

// Estimate is a count from a sketch of bounded size. The true count is between Count - Error
// and Count.
type Estimate struct {
	Count uint64 `json:"count"`
	Error uint64 `json:"error"`
	// First and Last are the times of the first and last occurrence. If Error is not 0,
	// earlier occurrences are possible.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// RuleCount is the number of disallowed or stale requests of a crawler for one rule.
type RuleCount struct {
	Site    string `json:"site"`
	Rule    string `json:"rule"` // in robots.txt syntax, such as "Disallow: /private/"
	Line    int    `json:"line"`
	Group   string `json:"group"` // user-agent line of the group
	Version string `json:"version"`
	Verdict string `json:"verdict"` // disallowed or stale
	Estimate
}

// UserAgent is a User-Agent header field of at most 256 bytes.
type UserAgent struct {
	UserAgent string `json:"user_agent"`
	Estimate
}

// NetworkCount is a network, a /24 or a /48.
type NetworkCount struct {
	Network  string `json:"network"`
	Identity string `json:"identity"`
	Estimate
}

// Sample is a disallowed request.
type Sample struct {
	At        time.Time `json:"at"`
	Site      string    `json:"site"`
	Host      string    `json:"host,omitempty"` // see Violation.Host
	Name      string    `json:"name,omitempty"` // see Violation.Name
	Method    string    `json:"method"`
	Path      string    `json:"path"` // as requested, at most 200 bytes; … marks a cut
	Verdict   string    `json:"verdict"`
	Action    string    `json:"action"`
	Identity  string    `json:"identity"`
	Rule      string    `json:"rule"`
	Line      int       `json:"line"`
	Version   string    `json:"version"`
	Network   string    `json:"network,omitempty"`
	UserAgent string    `json:"user_agent,omitempty"`
	// VersionFetched is the version fetched by the crawler: never, old or current.
	VersionFetched string `json:"read,omitempty"`
}
