package alert

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// Alert is a problem that the owner should act on. Its strings are plain text. They can contain
// paths and crawler names that clients choose.
type Alert struct {
	// ID consists of the kind and a hash of the subject, such as a rule or a version. It is the
	// same after a restart and on every instance. Another subject has another ID.
	ID       string   `json:"id"`
	Kind     Kind     `json:"kind"`
	Severity Severity `json:"severity"`
	Site     string   `json:"site,omitempty"` // Site is absent if the alert is about the server.
	// Crawler is a product token. It is empty if the alert is about no crawler.
	Crawler string `json:"crawler,omitempty"`
	// Since is the time at which the problem began. Until is the time at which it ended, if it did.
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"`
	Title string    `json:"title"` // Title is one line of text.
	// Detail describes the facts in a sentence or two.
	Detail string `json:"detail"`
	// Remedy says in a sentence what to do. RemedySnippet contains lines to copy into a Caddyfile,
	// a robots.txt or a shell, if any.
	Remedy        string `json:"do"`
	RemedySnippet string `json:"copy,omitempty"`
	State         State  `json:"state"`
	// Acknowledged is nil unless State is acknowledged.
	Acknowledged *Acknowledgement `json:"acknowledged,omitempty"`
}

// Kind is the kind of problem that an alert is about.
type Kind string

// These are the kinds of alerts.
const (
	// The guard is in the mode enforce, but the robots.txt disallows nothing.
	NotProtecting        Kind = "not_protecting"
	SearchBlocked        Kind = "search_blocked"    // A rule for other crawlers blocks a search engine.
	RobotsGone           Kind = "robots_gone"       // A robots.txt with rules has disappeared.
	RobotsShutsOutSearch Kind = "robots_closes"     // A new robots.txt shuts out search engines.
	RobotsChanged        Kind = "robots_changed"    // The robots.txt has a new version.
	Unreachable          Kind = "unreachable"       // The robots.txt cannot be fetched.
	ChangeDelayed        Kind = "waiting"           // The change guard holds back a change of the robots.txt.
	BaseFailing          Kind = "base_failing"      // The base of a managed robots.txt cannot be read.
	ManagedFileRefused   Kind = "text_refused"      // The composed robots.txt is not served.
	ChangeUnconfirmed    Kind = "change_waiting"    // A change of a robots_txt waits for confirmation.
	ChangeStopped        Kind = "change_stopped"    // The trial of a change has rejected it.
	PagesRefused         Kind = "pages_refused"     // A crawler is refused pages that the robots.txt allows.
	PagesFail            Kind = "pages_fail"        // A search engine gets error responses.
	RobotsFails          Kind = "robots_fails"      // A crawler does not get the robots.txt.
	RobotsWithheld       Kind = "robots_withheld"   // A crawler gets something else instead of the robots.txt.
	StorageFailing       Kind = "storage_failing"   // The storage returns errors.
	ListsStale           Kind = "lists_stale"       // Lists of crawlers' addresses are old.
	RegistryFails        Kind = "registry_failing"  // The registry file or URL cannot be read.
	UnknownCrawler       Kind = "unknown_crawler"   // A robot with many requests is in no registry.
	CrawlerWave          Kind = "crawler_wave"      // A robot in no registry comes from many networks at once.
	NewCrawler           Kind = "new_crawler"       // A new crawler sends many requests.
	ReadyForEnforce      Kind = "ready_for_enforce" // The mode enforce would block no client by mistake.
)

// minDurations are the times for which a problem of a kind must last before it is listed.
var minDurations = map[Kind]time.Duration{
	Unreachable: minUnreachableTime, BaseFailing: minUnreachableTime,
	StorageFailing: 5 * time.Minute, ListsStale: time.Hour, RegistryFails: time.Hour,
}

// Severity is how urgent an alert is.
type Severity string

// These are the severities of alerts.
const (
	Critical Severity = "critical" // The alert requires action now.
	Warning  Severity = "warning"  // The alert requires action today.
	Info     Severity = "info"     // The alert requires no action.
)

// Severities returns all severities, the most severe first.
func Severities() []Severity { return []Severity{Critical, Warning, Info} }

// Compare orders severities, the most severe first.
func (s Severity) Compare(other Severity) int {
	return slices.Index(Severities(), s) - slices.Index(Severities(), other)
}

// AtLeast reports whether s is as severe as least or more severe.
func (s Severity) AtLeast(least Severity) bool { return s.Compare(least) <= 0 }

// State says whether an alert is open, acknowledged by the owner, or over.
type State string

// These are the states of an alert.
const (
	Open         State = "open"
	Acknowledged State = "acknowledged" // The problem still exists, and the owner knows of it.
	Over         State = "over"         // The cause has ended.
)

// Acknowledgement is the owner's confirmation of having seen an alert.
type Acknowledgement struct {
	At   time.Time `json:"at"`
	User string    `json:"by,omitempty"` // User is the user name at the dashboard, if it requires a login.
	Note string    `json:"note,omitempty"`
}

// List is the list of alerts of a server.
type List struct {
	Generated time.Time `json:"generated"`
	// Alerts are sorted by state (open, acknowledged, over), then by severity, then by Since,
	// newest first. The list is never null.
	Alerts []Alert `json:"alerts"`
	// MoreCount is the number of alerts that are not listed because of the limit.
	MoreCount int `json:"more,omitempty"`
	// IsPersistent reports whether acknowledgements survive a restart.
	IsPersistent bool `json:"kept"`
	// ReadOnly reports whether the reader of this list cannot acknowledge alerts.
	ReadOnly bool `json:"read_only"`
}

// Compare orders alerts by state (open, acknowledged, over), then by severity, then by Since,
// newest first.
func (a *Alert) Compare(b *Alert) int {
	states := []State{Open, Acknowledged, Over}
	return cmp.Or(slices.Index(states, a.State)-slices.Index(states, b.State), a.Severity.Compare(b.Severity), b.Since.Compare(a.Since), strings.Compare(a.ID, b.ID))
}

// isListed reports whether the problem has lasted so long that the alert is listed, or lasted so
// long before it ended. See minDurations.
func (a *Alert) isListed(now time.Time) bool {
	if a.State == Over {
		now = a.Until
	}
	return now.Sub(a.Since) >= minDurations[a.Kind]
}

// newID returns the ID of the alert of a kind about a subject.
func newID(kind Kind, subject ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(subject, "\x00")))
	return string(kind) + "-" + hex.EncodeToString(sum[:6])
}
