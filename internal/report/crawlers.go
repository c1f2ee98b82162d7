package report

import (
	"time"
)

// Crawlers is the view of all crawlers, those with the most requests outside
// robots.txt first, then those with the most requests.
type Crawlers struct {
	Head
	Total    int       `json:"total"` // on all pages
	Crawlers []Crawler `json:"crawlers"`
	// Against is what all crawlers of a class asked for against preferences, the class
	// with the most requests first; absent for none.
	Against []Against `json:"against,omitempty"`
	Next    string    `json:"next,omitempty"` // the after of the next page
}

// Crawler is one crawler, at all sites that the filter lets through.
type Crawler struct {
	ID            string `json:"id"` // what asks for its detail: token, or token and class if it is _other
	Token         string `json:"token"`
	Operator      string `json:"operator,omitempty"`
	Documentation string `json:"documentation,omitempty"` // the operator's page about it
	Class         string `json:"class"`
	UserTriggered bool   `json:"user_triggered,omitempty"` // a person's action causes its fetches
	Wildcard      bool   `json:"wildcard"`                 // the * group is meant for it by default
	// Names are those of the clients that share the token _other or _spoofed,
	// the most frequent first: at most 20 in a list. Absent for all others.
	Names []NameCount `json:"names,omitempty"`
	// Impostors is how many requests came under its name that are known not to
	// be its own: they are counted with _spoofed.
	Impostors uint64 `json:"impostors,omitempty"`
	// Identities splits its requests of the window.
	Identities Identities `json:"identities"`
	Counts
	// Previous are its counts of the period before, see Head.PreviousFrom.
	Previous   *Counts  `json:"previous,omitempty"`
	Compliance *float64 `json:"compliance,omitempty"` // percent; absent where nothing was judged
	// TopPath is what it asked for most often outside robots.txt; absent if it
	// did not in the window.
	TopPath *Violation `json:"top_path,omitempty"`
	// Action is what happens to its requests outside robots.txt now: none (it
	// made none), logged or blocked.
	Action    string    `json:"action"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	// ViolatingSince is the time of its first disallowed request; absent for none.
	ViolatingSince time.Time `json:"violating_since,omitzero"`
	// Read is its last reading of a robots.txt; absent if it was never seen to
	// read one.
	Read *Reading `json:"read,omitempty"`
	// SinceRead is how many requests it made since then, or ever.
	SinceRead uint64    `json:"since_read"`
	Rate      Rate      `json:"rate"`
	Sparkline Sparkline `json:"sparkline"`
	// Against is what it asked for although the robots.txt states a preference against
	// what its class fetches for; absent if that is nothing.
	Against *Against `json:"against,omitempty"`
}

// Against is how many requests for pages came although a preference against their use
// is stated. They are allowed: a preference forbids no fetching, and no request shows
// what becomes of a page.
type Against struct {
	Class    string `json:"class"`    // of who asked
	Stated   string `json:"stated"`   // such as "train-ai=n"
	Requests uint64 `json:"requests"` // of the window
	Known    uint64 `json:"known"`    // of these, by who had read the file that states it
}

// Identities are numbers of requests by what is known of who sent them.
type Identities struct {
	Verified uint64 `json:"verified"`
	Claimed  uint64 `json:"claimed"`
	Unknown  uint64 `json:"unknown"`
	Spoofed  uint64 `json:"spoofed"`
}

// Reading is what a crawler got for its last request for a robots.txt.
type Reading struct {
	Site   string    `json:"site"`
	At     time.Time `json:"at"`
	Status int       `json:"status"`
	// Version is absent where the text was not seen: after a 304, or if the
	// answer was compressed.
	Version string `json:"version,omitempty"`
	// Current says whether that is the site's version now.
	Current bool `json:"current"`
}

// Rate is how fast a crawler is now, at the site where it is fastest.
type Rate struct {
	// PerMinute is the mean of the last five minutes, Day that of the last 24 hours,
	// and Peak how many requests there were in the fullest minute of the last six hours.
	PerMinute float64 `json:"per_minute"`
	Day       float64 `json:"per_minute_day"`
	Peak      uint64  `json:"peak"`
	// CrawlDelay is what the robots.txt asks it for, in seconds between two requests, and
	// DelayLine the line that does; 0 if nothing. RFC 9309 does not know it. Habit is what
	// its operator says it does with that: obeys, ignores or undocumented.
	CrawlDelay float64 `json:"crawl_delay,omitempty"`
	DelayLine  int     `json:"crawl_delay_line,omitempty"`
	Habit      string  `json:"crawl_delay_habit,omitempty"`
	// Exceeds says that it was more than 1.5 times as fast in the last five minutes, and
	// there were more than ten requests. It is false for one that does not read it.
	Exceeds bool `json:"exceeds"`
}

// CrawlerDetail is all about one crawler.
type CrawlerDetail struct {
	Head
	Crawler   Crawler        `json:"crawler"`
	SitesSeen []CrawlerSite  `json:"sites_seen"`
	Series    Series         `json:"series"`
	Marks     []Mark         `json:"marks"`    // of the sites that it was seen at, see Summary.Marks
	Rules     []RuleCount    `json:"rules"`    // most violated first
	Paths     []Violation    `json:"paths"`    // most violated first
	Recent    []Sample       `json:"recent"`   // the last requests outside robots.txt, the latest first
	Agents    []UserAgent    `json:"agents"`   // the User-Agents that it was seen with, most used first
	Networks  []NetworkCount `json:"networks"` // the networks that it came from, most used first
}

// CrawlerSite is what a crawler did at one site.
type CrawlerSite struct {
	Site string `json:"site"`
	Counts
	Read      *Reading  `json:"read,omitempty"`
	SinceRead uint64    `json:"since_read"`
	Rate      Rate      `json:"rate"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
}

// Estimate is a number from a sketch of bounded size: the true one is at most
// Count and at least Count - Error.
type Estimate struct {
	Count uint64 `json:"count"`
	Error uint64 `json:"error"`
	// First and Last are the times of the first and the last occurrence. If
	// Error is not 0, there may have been earlier ones.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// RuleCount is how often a crawler has broken a rule.
type RuleCount struct {
	Site    string `json:"site"`
	Rule    string `json:"rule"` // as a line of a robots.txt, such as "Disallow: /private/"
	Line    int    `json:"line"`
	Group   string `json:"group"` // the user-agent line of its group
	Version string `json:"version"`
	Verdict string `json:"verdict"` // disallowed or stale
	Estimate
}

// UserAgent is a User-Agent header, cut after 256 bytes.
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

// Sample is one request outside robots.txt.
type Sample struct {
	At        time.Time `json:"at"`
	Site      string    `json:"site"`
	Host      string    `json:"host,omitempty"` // see Violation.Host
	Name      string    `json:"name,omitempty"` // see Violation.Name
	Method    string    `json:"method"`
	Path      string    `json:"path"` // as requested, cut after 200 bytes with … as its end
	Verdict   string    `json:"verdict"`
	Action    string    `json:"action"`
	Identity  string    `json:"identity"`
	Rule      string    `json:"rule"`
	Line      int       `json:"line"`
	Version   string    `json:"version"`
	Network   string    `json:"network,omitempty"`
	UserAgent string    `json:"user_agent,omitempty"`
	// Read tells what the crawler knows of the rules: it never read the file,
	// an old version or the current one.
	Read string `json:"read,omitempty"`
}
