package report

import (
	"time"
)

// Summary is the view "Now".
type Summary struct {
	ViewHeader
	Counts
	// Previous are the numbers of the previous period. See ViewHeader.PreviousFrom.
	Previous   *Counts  `json:"previous,omitempty"`
	Compliance *float64 `json:"compliance,omitempty"` // percent; absent without judged requests
	Crawlers   int      `json:"crawlers"`             // tokens in the window
	// BrowsersOnDisallowed is the number of browser requests for URLs disallowed by the `*` group.
	// Such requests are recorded only if the configuration uses the verdict of a path.
	BrowsersOnDisallowed uint64 `json:"on_disallowed,omitempty"`
	// SitesNow are the current sites by name.
	SitesNow []Site `json:"sites_now"`
	// Top are the crawlers with the most disallowed requests, then with the most requests, at
	// most 10.
	Top []Crawler `json:"top"`
	// SearchBlocked are search engines blocked in the window by a rule for other crawlers.
	// Spoofed clients are omitted.
	SearchBlocked []SearchBlocked `json:"search_blocked"`
	Series        Series          `json:"series"`
	// Marks are the changes of robots.txt files and modes in the window, oldest first, at
	// most 24 of each site.
	Marks   []Mark  `json:"marks"`
	History History `json:"history"`
}

// History reports whether the ledger survives a restart.
type History struct {
	SurvivesRestart bool   `json:"kept"`
	Reason          string `json:"why,omitempty"` // reason and remedy, or ""
}

// Site is a current site with its numbers of the window.
type Site struct {
	Site string `json:"site"`
	// Mode is monitor, enforce, or mixed if parts of the site differ.
	Mode string `json:"mode,omitempty"`
	Counts
	Previous *Counts `json:"previous,omitempty"` // of the previous period
	// Hosts are the hosts of a site with several hosts, most disallowed requests first, at
	// most 64.
	Hosts  []HostCount `json:"hosts,omitempty"`
	Robots Health      `json:"robots"`
}

// Health is the state of a site's robots.txt.
type Health struct {
	State State `json:"state"`
	// Authority is the scheme, host and port of the file, or its configured URL or path.
	Authority    string    `json:"authority,omitempty"`
	Source       string    `json:"source,omitempty"` // server, url or file
	Status       int       `json:"status,omitempty"` // of the last good response
	Version      string    `json:"version,omitempty"`
	RuleCount    int       `json:"rules"`
	FirstFetched time.Time `json:"first_read,omitzero"` // this version
	LastFetched  time.Time `json:"last_read,omitzero"`
	NextFetch    time.Time `json:"next_read,omitzero"`
	FailureCount int       `json:"failures"` // consecutive failures
	FailingSince time.Time `json:"failing_since,omitzero"`
	Error        string    `json:"error,omitempty"` // error of the last attempt, see [FetchProblem]
	Findings     Findings  `json:"findings"`
	// HeldUntil is the end of the change guard's hold on an earlier version, if any.
	HeldUntil time.Time `json:"held_until,omitzero"`
	// TakesEffect is the future time at which no crawler may use an earlier version any
	// longer, if any.
	TakesEffect time.Time `json:"takes_effect,omitzero"`
	// NotProtecting is the reason why enforce has no effect, if any. NotProtecting is absent
	// in monitor.
	NotProtecting *NotProtecting `json:"not_protecting,omitempty"`
}

// State is the state of a robots.txt in one word.
type State string

// The states.
const (
	Unread      State = "unread"         // not fetched yet
	OK          State = "ok"             // fetched
	Missing     State = "missing"        // does not exist; no restriction
	Unprotected State = "not_protecting" // fetched, but disallows nothing in enforce
	LastGood    State = "last_good"      // fetch fails; an earlier copy is in use
	Unreachable State = "unreachable"    // fetch fails; no copy
)

// Findings are the numbers of lint findings by severity.
type Findings struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
}

// SearchBlocked is a search engine blocked by a rule of a group for other crawlers. A group
// that names the search engine is the owner's intention.
type SearchBlocked struct {
	Site     string    `json:"site"`
	Token    string    `json:"token"`
	Identity string    `json:"identity"`
	Blocked  uint64    `json:"blocked"` // by such rules
	Last     time.Time `json:"last,omitzero"`
	// Host, Path, Rule and Line are an example.
	Host string `json:"host,omitempty"`
	Path string `json:"path,omitempty"`
	Rule string `json:"rule,omitempty"`
	Line int    `json:"line,omitempty"`
}
