package report

import (
	"time"
)

// Crawlers is the list of all crawlers: most disallowed requests first, then most requests.
type Crawlers struct {
	ViewHeader
	Total    int       `json:"total"` // on all pages
	Crawlers []Crawler `json:"crawlers"`
	// AgainstPreference lists the requests against preferences by class, most requests first.
	AgainstPreference []RequestsAgainstPreference `json:"against,omitempty"`
	Next              string                      `json:"next,omitempty"` // value of after for the next page
}

// Crawler is the data about one crawler at all sites that match the filter.
type Crawler struct {
	// ID is the parameter id of the detail view: Token, or Token, a colon and Class if clients
	// share the token, such as _other:search.
	ID              string `json:"id"`
	Token           string `json:"token"`
	Operator        string `json:"operator,omitempty"`
	Documentation   string `json:"documentation,omitempty"` // the operator's page about the crawler
	Class           string `json:"class"`
	UserTriggered   bool   `json:"user_triggered,omitempty"` // fetches on a person's action
	WildcardApplies bool   `json:"wildcard"`                 // the * group applies by default
	// Names are the names of the clients that share the token _other or _spoofed, most frequent
	// first. A list of crawlers has at most 20.
	Names []ClientNameCount `json:"names,omitempty"`
	// SpoofedRequests is the number of requests of spoofed clients that use this crawler's name.
	// They are counted for the token _spoofed, not for this crawler.
	SpoofedRequests uint64 `json:"impostors,omitempty"`
	// Identities are the numbers of requests by identity of the client.
	Identities Identities `json:"identities"`
	RequestCounts
	// Previous are the numbers of the period before the window. It is absent if not all of that period
	// was counted.
	Previous   *RequestCounts `json:"previous,omitempty"`
	Compliance *float64       `json:"compliance,omitempty"` // percent; absent without judged requests
	// TopPath is the disallowed path that the crawler requested most often, if any.
	TopPath *Violation `json:"top_path,omitempty"`
	// Action is the guard's last action on a request of the crawler: blocked, logged, or none.
	Action    string    `json:"action"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	// ViolatingSince is the time of the crawler's first disallowed request.
	ViolatingSince time.Time `json:"violating_since,omitzero"`
	// RobotsFetch is the crawler's last request for robots.txt, if any.
	RobotsFetch *RobotsFetch `json:"read,omitempty"`
	// RequestsSinceFetch is the number of requests after the crawler's last request for robots.txt
	// at each site. At sites without such a request, all requests are counted.
	RequestsSinceFetch uint64      `json:"since_read"`
	Rate               RequestRate `json:"rate"`
	Sparkline          Sparkline   `json:"sparkline"`
	// AgainstPreference is the number of requests against a preference, or nil if there are none.
	AgainstPreference *RequestsAgainstPreference `json:"against,omitempty"`
}

// RequestsAgainstPreference counts requests for pages although the robots.txt states a preference
// against the crawler's use of the content, such as training. The requests are allowed, because a
// preference disallows nothing.
type RequestsAgainstPreference struct {
	Class      string `json:"class"`    // class of the crawlers
	Preference string `json:"stated"`   // the preference, such as "train-ai=n"
	Requests   uint64 `json:"requests"` // requests in the window
	AfterFetch uint64 `json:"known"`    // by crawlers that had fetched the file with the preference
}

// Identities are numbers of requests by identity of the client.
type Identities struct {
	Verified uint64 `json:"verified"`
	Claimed  uint64 `json:"claimed"`
	Unknown  uint64 `json:"unknown"`
	Spoofed  uint64 `json:"spoofed"`
}

// RobotsFetch is a crawler's last request for robots.txt, and the response.
type RobotsFetch struct {
	Site   string    `json:"site"`
	At     time.Time `json:"at"`
	Status int       `json:"status"`
	// Version is the SHA-256 of the response body. It is absent for an empty or missing file, and
	// if the guard did not get the whole body, for example after a 304.
	Version string `json:"version,omitempty"`
	// Current reports whether the crawler got the site's current version.
	Current bool `json:"current"`
}

// RequestRate is the current request rate of a crawler: at the site with the highest rate, or where
// it exceeds the Crawl-delay.
type RequestRate struct {
	// PerMinute is the average of the last five minutes, and PerMinuteOfDay of the last 24 hours.
	// PeakPerMinute is the maximum number of requests in one minute of the last six hours.
	PerMinute      float64 `json:"per_minute"`
	PerMinuteOfDay float64 `json:"per_minute_day"`
	PeakPerMinute  uint64  `json:"peak"`
	// CrawlDelay is the Crawl-delay in robots.txt in seconds, or 0, and DelayLine the number of its
	// line. RFC 9309 does not define Crawl-delay. CrawlDelaySupport says what the operator
	// documents about the crawler: obeys, ignores or undocumented.
	CrawlDelay        float64 `json:"crawl_delay,omitempty"`
	DelayLine         int     `json:"crawl_delay_line,omitempty"`
	CrawlDelaySupport string  `json:"crawl_delay_habit,omitempty"`
	// Exceeds reports whether the crawler sent more than ten requests in the last five minutes, and
	// more than 1.5 times as many as CrawlDelay allows. For this, CrawlDelay counts as at most 30
	// seconds, and as at most the longest delay that the operator documents. Exceeds is false for a
	// crawler that ignores Crawl-delay.
	Exceeds bool `json:"exceeds"`
}

// CrawlerDetail has all data about one crawler.
type CrawlerDetail struct {
	ViewHeader
	Crawler       Crawler        `json:"crawler"`
	SitesSeen     []CrawlerSite  `json:"sites_seen"`
	Series        TimeSeries     `json:"series"`
	Changes       []SiteChange   `json:"marks"`    // of its sites, see Summary.Changes
	Rules         []RuleCount    `json:"rules"`    // most frequent first
	Paths         []Violation    `json:"paths"`    // most frequent first
	RecentSamples []Sample       `json:"recent"`   // last disallowed requests, newest first
	Agents        []UserAgent    `json:"agents"`   // most frequent first
	Networks      []NetworkCount `json:"networks"` // most frequent first
}

// CrawlerSite is the data about one crawler at one site.
type CrawlerSite struct {
	Site string `json:"site"`
	RequestCounts
	RobotsFetch        *RobotsFetch `json:"read,omitempty"`
	RequestsSinceFetch uint64       `json:"since_read"`
	Rate               RequestRate  `json:"rate"`
	FirstSeen          time.Time    `json:"first_seen"`
	LastSeen           time.Time    `json:"last_seen"`
}

// Estimate is an approximate count. The true count is between Count - Error and Count.
type Estimate struct {
	Count uint64 `json:"count"`
	Error uint64 `json:"error"`
	// First and Last are the times of the first and last occurrence. If Error is not 0, there can
	// be earlier occurrences.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// RuleCount is the number of a crawler's requests that one rule disallowed, or that were stale
// because of it.
type RuleCount struct {
	Site    string `json:"site"`
	Rule    string `json:"rule"` // in robots.txt syntax, such as "Disallow: /private/"
	Line    int    `json:"line"`
	Group   string `json:"group"` // name in the User-agent line of the group, such as "*"
	Version string `json:"version"`
	Verdict string `json:"verdict"` // disallowed or stale
	Estimate
}

// UserAgent is a User-Agent header field, cut to 256 bytes, with the number of requests.
type UserAgent struct {
	UserAgent string `json:"user_agent"`
	Estimate
}

// NetworkCount is the number of a crawler's disallowed requests from one network: a /24 for IPv4, a
// /48 for IPv6.
type NetworkCount struct {
	Network  string `json:"network"`
	Identity string `json:"identity"`
	Estimate
}

// Sample is one disallowed request as an example.
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
	// VersionFetched says which version of robots.txt the crawler had fetched before the request:
	// never any, an old version or the current version.
	VersionFetched string `json:"read,omitempty"`
}
