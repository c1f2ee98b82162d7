package report

import (
	"time"
)

// Summary is the data of the dashboard's first page: totals, sites, and the crawlers with the most
// violations.
type Summary struct {
	ViewHeader
	RequestCounts
	// Previous are the numbers of the period before the window. It is absent if not all of that period
	// was counted.
	Previous *RequestCounts `json:"previous,omitempty"`
	// Compliance is a percentage. It is absent without judged requests.
	Compliance *float64 `json:"compliance,omitempty"`
	// Crawlers is the number of crawlers with requests in the window.
	Crawlers int `json:"crawlers"`
	// BrowsersOnDisallowed is the number of requests of browsers for URLs that the `*` group
	// disallows. It is counted only if the configuration uses the matcher or the placeholder for
	// the verdict of a path.
	BrowsersOnDisallowed uint64 `json:"on_disallowed,omitempty"`
	// SitesNow are the sites with their current states, sorted by name.
	SitesNow []SiteSummary `json:"sites_now"`
	// Top are the crawlers with the most disallowed requests, then with the most requests, at most
	// 10.
	Top []Crawler `json:"top"`
	// SearchBlocked are the search engines that rules for other crawlers blocked in the window and
	// would still block now. Spoofed clients are omitted.
	SearchBlocked []BlockedSearchEngine `json:"search_blocked"`
	Series        TimeSeries            `json:"series"`
	// Changes are the changes of robots.txt files and modes in the window, oldest first, at most 24
	// of each site.
	Changes []SiteChange      `json:"marks"`
	History LedgerPersistence `json:"history"`
}

// LedgerPersistence reports whether the counts survive a restart.
type LedgerPersistence struct {
	SurvivesRestart bool   `json:"kept"`
	Reason          string `json:"why,omitempty"` // Reason has the reason and the remedy, or "".
}

// SiteSummary is a site with its current state, and its numbers in the window.
type SiteSummary struct {
	Site string `json:"site"`
	// Mode is monitor or enforce, or mixed if one part of the site enforces and another does not.
	Mode string `json:"mode,omitempty"`
	RequestCounts
	Previous *RequestCounts `json:"previous,omitempty"` // Previous are the numbers of the previous period.
	// Hosts are the hosts of a site with several hosts, most disallowed requests first, at most 64.
	Hosts  []HostCount  `json:"hosts,omitempty"`
	Robots RobotsHealth `json:"robots"`
}

// RobotsHealth is the state of a site's robots.txt, and of the attempts to fetch it.
type RobotsHealth struct {
	State RobotsState `json:"state"`
	// Authority is the scheme, host and port of the robots.txt, or its configured URL or path.
	Authority string `json:"authority,omitempty"`
	Source    string `json:"source,omitempty"` // Source is server, url or file.
	Status    int    `json:"status,omitempty"` // Status is the status of the last good response.
	Version   string `json:"version,omitempty"`
	RuleCount int    `json:"rules"`
	// FirstFetched is the time at which this version was first fetched.
	FirstFetched time.Time `json:"first_read,omitzero"`
	LastFetched  time.Time `json:"last_read,omitzero"`
	NextFetch    time.Time `json:"next_read,omitzero"`
	FailureCount int       `json:"failures"` // FailureCount is the number of consecutive failures.
	FailingSince time.Time `json:"failing_since,omitzero"`
	// Error is the error of the last attempt in words.
	Error    string        `json:"error,omitempty"`
	Findings FindingCounts `json:"findings"`
	// HeldUntil is the time until which the change guard keeps an earlier version in force, if any.
	HeldUntil time.Time `json:"held_until,omitzero"`
	// TakesEffect is the future time from which no crawler may use an earlier version any longer,
	// if any.
	TakesEffect time.Time `json:"takes_effect,omitzero"`
	// ProtectionProblem is the reason why the mode enforce blocks nothing, if any. It is absent in
	// the mode monitor.
	ProtectionProblem *ProtectionProblem `json:"not_protecting,omitempty"`
}

// RobotsState is the state of a robots.txt in one word.
type RobotsState string

// These are the states.
const (
	Unread RobotsState = "unread" // Unread means that the file was not fetched yet.
	OK     RobotsState = "ok"     // OK means that the file was fetched.
	// Missing means that the site responded without a file (for example 404 or 403) and is in the
	// mode monitor. Nothing is disallowed.
	Missing RobotsState = "missing"
	// Unprotected means that the file disallows nothing or is missing, and that the site is in the
	// mode enforce.
	Unprotected RobotsState = "not_protecting"
	LastGood    RobotsState = "last_good"   // LastGood means that fetches fail and that an earlier copy is in use.
	Unreachable RobotsState = "unreachable" // Unreachable means that fetches fail and that no copy exists.
)

// FindingCounts are the numbers of findings of lint by severity.
type FindingCounts struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
}

// BlockedSearchEngine is a search engine blocked by a rule in a group for other crawlers. A block
// by a group that names the search engine is the owner's intention, and not included.
type BlockedSearchEngine struct {
	Site     string    `json:"site"`
	Token    string    `json:"token"`
	Identity string    `json:"identity"`
	Blocked  uint64    `json:"blocked"` // Blocked is the number of requests that such rules blocked.
	Last     time.Time `json:"last,omitzero"`
	// Host, Path, Rule and Line are an example of a blocked request.
	Host string `json:"host,omitempty"`
	Path string `json:"path,omitempty"`
	Rule string `json:"rule,omitempty"`
	Line int    `json:"line,omitempty"`
}
