package alert

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// Alert is one thing that the owner should do something about. Texts are plain,
// and may repeat what others wrote: paths, names of crawlers.
type Alert struct {
	// ID is the kind and a hash of what the alert is about. It is the same after
	// a restart and at every instance, and another one when that changes.
	ID       string   `json:"id"`
	Kind     Kind     `json:"kind"`
	Severity Severity `json:"severity"`
	Site     string   `json:"site,omitempty"`    // absent if it is about the server
	Crawler  string   `json:"crawler,omitempty"` // its token; absent if it is about none
	// Since is when it began, Until when it was over.
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"`
	Title string    `json:"title"` // one line
	// Detail is what is known, in a sentence or two.
	Detail string `json:"detail"`
	// Do is what to do, in a sentence, and Copy what it takes: lines of a
	// Caddyfile or a robots.txt, or a command. Copy is absent if it takes nothing.
	Do    string `json:"do"`
	Copy  string `json:"copy,omitempty"`
	State State  `json:"state"`
	// Acknowledged is absent unless State is acknowledged.
	Acknowledged *Acknowledgement `json:"acknowledged,omitempty"`
}

// Kind is what an alert is about.
type Kind string

// The kinds.
const (
	NotProtecting   Kind = "not_protecting"    // the guard blocks nothing, although it is told to
	SearchBlocked   Kind = "search_blocked"    // a search engine is blocked by a rule that does not name it
	RobotsGone      Kind = "robots_gone"       // a robots.txt with rules was there, and is not
	RobotsCloses    Kind = "robots_closes"     // a new robots.txt shuts out search engines
	RobotsChanged   Kind = "robots_changed"    // there is a new robots.txt
	Unreachable     Kind = "unreachable"       // the robots.txt cannot be read
	Waiting         Kind = "waiting"           // a change of the robots.txt is held back
	BaseFailing     Kind = "base_failing"      // what a robots.txt is composed from cannot be read
	TextRefused     Kind = "text_refused"      // the robots.txt that the rules come to is not served
	ChangeWaits     Kind = "change_waiting"    // a change of a robots_txt waits for confirmation
	ChangeStopped   Kind = "change_stopped"    // the trial of one has ended by itself
	PagesRefused    Kind = "pages_refused"     // a crawler is refused what the robots.txt allows
	PagesFail       Kind = "pages_fail"        // a search engine gets errors
	RobotsFails     Kind = "robots_fails"      // a crawler does not get the robots.txt
	RobotsWithheld  Kind = "robots_withheld"   // a crawler gets something else instead of the robots.txt
	StorageFailing  Kind = "storage_failing"   // what is known is not stored
	ListsStale      Kind = "lists_stale"       // lists of crawlers' addresses are old
	RegistryFails   Kind = "registry_failing"  // the registry cannot be used
	UnknownCrawler  Kind = "unknown_crawler"   // a robot with many requests is in no registry
	CrawlerWave     Kind = "crawler_wave"      // a robot in no registry comes from many networks at once
	NewCrawler      Kind = "new_crawler"       // a crawler with many requests that was not there before
	ReadyForEnforce Kind = "ready_for_enforce" // enforce would block nobody by mistake
)

// kinds returns all kinds.
func kinds() []Kind {
	return []Kind{NotProtecting, SearchBlocked, RobotsGone, RobotsCloses, RobotsChanged, Unreachable, Waiting, BaseFailing, TextRefused,
		ChangeWaits, ChangeStopped, PagesRefused, PagesFail, RobotsFails, RobotsWithheld, StorageFailing, ListsStale, RegistryFails, UnknownCrawler, CrawlerWave, NewCrawler, ReadyForEnforce}
}

// Severity is how much an alert matters.
type Severity string

// The severities.
const (
	Critical Severity = "critical" // look now
	Warning  Severity = "warning"  // look today
	Info     Severity = "info"     // good to know
)

// Severities returns all severities, the most severe first.
func Severities() []Severity { return []Severity{Critical, Warning, Info} }

// AtLeast reports whether a severity is another one or more than that.
func (s Severity) AtLeast(least Severity) bool {
	return slices.Index(Severities(), s) <= slices.Index(Severities(), least)
}

// State is how far the owner is with an alert.
type State string

// The states.
const (
	Open         State = "open"
	Acknowledged State = "acknowledged" // it is still so, and the owner knows
	Over         State = "over"         // it is not so any more
)

// states returns all states.
func states() []State { return []State{Open, Acknowledged, Over} }

// Acknowledgement says that the owner knows.
type Acknowledgement struct {
	At   time.Time `json:"at"`
	By   string    `json:"by,omitempty"` // the user, where one has to log in
	Note string    `json:"note,omitempty"`
}

// List is what a server shows of its alerts.
type List struct {
	Generated time.Time `json:"generated"`
	// Alerts are the open ones first, then the acknowledged and those that are
	// over, of each the most severe first, then the latest. It is never null.
	Alerts []Alert `json:"alerts"`
	// More is how many there are besides, the least severe: too many to be shown.
	More int `json:"more,omitempty"`
	// Kept says that acknowledgements outlive a restart.
	Kept bool `json:"kept"`
	// ReadOnly says that alerts cannot be acknowledged where this list was read.
	ReadOnly bool `json:"read_only"`

	number uint64 // of the lists so far
}

// idOf returns the ID of an alert about these parts.
func idOf(kind Kind, about ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(about, "\x00")))
	return string(kind) + "-" + hex.EncodeToString(sum[:6])
}
