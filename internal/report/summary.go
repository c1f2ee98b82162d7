package report

import (
	"time"
)

// Summary is the view "Now".
type Summary struct {
	Head
	Counts
	// Previous are the counts of the period before, see Head.PreviousFrom.
	Previous   *Counts  `json:"previous,omitempty"`
	Compliance *float64 `json:"compliance,omitempty"` // percent; absent where nothing was judged
	Crawlers   int      `json:"crawlers"`             // different tokens seen in the window
	// OnDisallowed are the requests of browsers in the window for URLs that the robots.txt
	// disallows to crawlers that no group names. They are counted where the configuration asks
	// for the verdict of a path.
	OnDisallowed uint64 `json:"on_disallowed,omitempty"`
	// SitesNow are the sites as they are now, by name.
	SitesNow []Site `json:"sites_now"`
	// Top are the crawlers with the most requests outside robots.txt, then
	// with the most requests: at most 10.
	Top []Crawler `json:"top"`
	// FalseNames are the names that were used by clients known to be somebody
	// else, and OwnNames those of clients that neither the registry nor a
	// robots.txt names, the most frequent first: at most 20.
	FalseNames []NameCount `json:"false_names"`
	OwnNames   []NameCount `json:"own_names"`
	// SearchBlocked are search engines that were blocked in the window by a rule
	// that does not name them: the owner should know at once. Those known to use
	// a false name are left out.
	SearchBlocked []SearchBlocked `json:"search_blocked"`
	Series        Series          `json:"series"`
	// Marks are the edits of robots.txt and the switches of mode in the window,
	// the earliest first: at most 24 of each site.
	Marks   []Mark  `json:"marks"`
	History History `json:"history"`
}

// History tells whether the counts outlive a restart.
type History struct {
	Kept bool   `json:"kept"`
	Why  string `json:"why,omitempty"` // why not, and what to do; "" if they do
}

// Site is one site now, with its counts of the window.
type Site struct {
	Site string `json:"site"`
	// Mode is monitor, enforce, or mixed where parts of the site differ; "" if
	// no crawler has asked since the configuration was loaded.
	Mode string `json:"mode,omitempty"`
	Counts
	Previous *Counts `json:"previous,omitempty"` // of the period before
	// Hosts are those of its requests where it stands for several, those with the most
	// disallowed requests first: at most 64. Absent for all others.
	Hosts  []HostCount `json:"hosts,omitempty"`
	Robots Health      `json:"robots"`
}

// Health is how it is about the robots.txt of a site.
type Health struct {
	State State `json:"state"`
	// Authority is whose file it is: scheme, host and port, or the URL or path
	// that the configuration names.
	Authority    string    `json:"authority,omitempty"`
	Source       string    `json:"source,omitempty"` // server, url or file
	Status       int       `json:"status,omitempty"` // of the last good answer
	Version      string    `json:"version,omitempty"`
	Rules        int       `json:"rules"`
	FirstRead    time.Time `json:"first_read,omitzero"` // this version
	LastRead     time.Time `json:"last_read,omitzero"`
	NextRead     time.Time `json:"next_read,omitzero"`
	Failures     int       `json:"failures"` // in a row
	FailingSince time.Time `json:"failing_since,omitzero"`
	Error        string    `json:"error,omitempty"` // why the last attempt failed, see [Trouble]
	Findings     Findings  `json:"findings"`
	// HeldUntil is until when the change guard keeps an earlier version in
	// force; absent if it does not.
	HeldUntil time.Time `json:"held_until,omitzero"`
	// TakesEffect is when the current version will be the only one that counts: until then a
	// crawler may be using an earlier one. Absent if it is already.
	TakesEffect time.Time `json:"takes_effect,omitzero"`
	// NotProtecting says why enforce has nothing to enforce; absent where it has,
	// and where the site is in monitor.
	NotProtecting *NotProtecting `json:"not_protecting,omitempty"`
}

// State is a robots.txt in a word.
type State string

// The states.
const (
	Unread      State = "unread"         // nobody had to read it yet
	OK          State = "ok"             // it was read
	Missing     State = "missing"        // there is none, so nothing is restricted
	Unprotected State = "not_protecting" // it was read, forbids nothing, and the site is in enforce
	LastGood    State = "last_good"      // it cannot be read; an earlier copy is used
	Unreachable State = "unreachable"    // it cannot be read and there is no copy to use
)

// Findings are how many there are of each severity, as the command lint counts
// them.
type Findings struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
}

// SearchBlocked is a search engine that was blocked by a rule that does not name
// it. One that the robots.txt names and forbids is meant to stay out.
type SearchBlocked struct {
	Site     string    `json:"site"`
	Token    string    `json:"token"`
	Identity string    `json:"identity"`
	Blocked  uint64    `json:"blocked"` // by such rules
	Last     time.Time `json:"last,omitzero"`
	// Host, Path, Rule and Line are one example.
	Host string `json:"host,omitempty"`
	Path string `json:"path,omitempty"`
	Rule string `json:"rule,omitempty"`
	Line int    `json:"line,omitempty"`
}
