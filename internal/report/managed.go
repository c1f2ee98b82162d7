package report

import "time"

// Managed is what the robots_txt handlers of the configuration serve, and will.
type Managed struct {
	Head
	// Managed has the hosts that the configuration names, and those of others that
	// were asked for their robots.txt, by name. It is never null.
	Managed []ManagedSite `json:"managed"`
	// More is how many there are besides.
	More int `json:"more,omitempty"`
	// Detail is about the site of the filter; absent without one.
	Detail *ManagedDetail `json:"detail,omitempty"`
}

// ManagedSite is the robots.txt of a host in short.
type ManagedSite struct {
	Host string `json:"host"` // may be a wildcard; "" for any
	// Version is that of the text that is served, as its comment has it; absent if
	// nobody has asked for it yet, or if it is the site's own.
	Version string    `json:"version,omitempty"`
	Since   time.Time `json:"since,omitzero"` // when that text came into force
	Staging bool      `json:"staging"`
	InForce int       `json:"rules_in_force"`
	// Next is when the next text comes into force; absent for never.
	Next time.Time   `json:"next,omitzero"`
	Base ManagedBase `json:"base"`
	// Refused says why the text that should be served is not: the one before is, or
	// what the site answers.
	Refused *ManagedRefusal `json:"refused,omitempty"`
	// Trial is the change that this host, or some operators, are served before others;
	// absent for none.
	Trial *ManagedTrial `json:"trial,omitempty"`
	// Lists are those that rules come from besides the configuration.
	Lists []ManagedList `json:"lists,omitempty"`
}

// ManagedTrial is a change that is served before all have it.
type ManagedTrial struct {
	Change string    `json:"change"`         // its ID
	Until  time.Time `json:"until,omitzero"` // when that ends by itself; absent for never
}

// ManagedBase is what a text is composed from.
type ManagedBase struct {
	Kind string `json:"kind"`           // upstream, file or none
	File string `json:"file,omitempty"` // its path
	// Read is when it was last read with success; absent for never.
	Read   time.Time `json:"read,omitzero"`
	Status int       `json:"status,omitempty"` // of that answer
	// FailingSince is since when it cannot be read, and Failure why.
	FailingSince time.Time `json:"failing_since,omitzero"`
	Failure      string    `json:"failure,omitempty"`
}

// ManagedRefusal is why a text is not served.
type ManagedRefusal struct {
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
}

// ManagedDetail is all about one host.
type ManagedDetail struct {
	ManagedSite
	Text  string         `json:"text"`  // that is served, "" if the site's own is
	Lines []ManagedLine  `json:"lines"` // those of Text that rules make
	Rules []ManagedRule  `json:"rules"`
	Turns []ManagedTurn  `json:"turns"` // of the next 400 days, in order
	Found []ManagedFound `json:"findings"`
	// Changes are those of its robots_txt: first what waits or is tried, then what is in
	// force, and the last that were. They are never null.
	Changes []ManagedChange `json:"changes"`
}

// ManagedLine is a line of a text with the rules that make it.
type ManagedLine struct {
	Line  int      `json:"line"` // counted from 1
	Text  string   `json:"text"`
	Rules []string `json:"rules"` // by their names
}

// ManagedRule is a rule of robots_txt.
type ManagedRule struct {
	Name   string    `json:"name"`
	Says   string    `json:"says"`
	For    []string  `json:"for"`
	State  string    `json:"state"` // in_force, to_come or over
	From   time.Time `json:"from,omitzero"`
	Until  time.Time `json:"until,omitzero"`
	Hosts  []string  `json:"hosts,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Owner  string    `json:"owner,omitempty"`
	Ticket string    `json:"ticket,omitempty"`
	At     string    `json:"at,omitempty"` // where it stands
}

// The states of a rule.
const (
	RuleInForce = "in_force"
	RuleToCome  = "to_come"
	RuleOver    = "over"
)

// ManagedTurn is when a text changes.
type ManagedTurn struct {
	At      time.Time `json:"at"`
	Begins  []string  `json:"begins"` // rules, by their names
	Ends    []string  `json:"ends"`
	Added   []string  `json:"added"` // lines, if the base stays as it is
	Removed []string  `json:"removed"`
}

// ManagedFound is what the gate finds in the text that is served.
type ManagedFound struct {
	Code     string   `json:"code"`
	Severity string   `json:"severity"`
	Rules    []string `json:"rules"`
	At       string   `json:"at,omitempty"`
	Message  string   `json:"message"`
}

// Texts is what knows of robots_txt.
type Texts interface {
	// Sites returns all hosts in short, by name.
	Sites(now time.Time) []ManagedSite
	// Site returns all about one.
	Site(host string, now time.Time) (ManagedDetail, bool)
}

// maxManaged bounds a list of hosts.
const maxManaged = 1000

// ManagedTexts returns the view of robots_txt. ok is false for a site of the filter
// that has none.
func (s *Source) ManagedTexts(f Filter) (m Managed, ok bool) {
	m = Managed{Head: s.view(f).head(), Managed: []ManagedSite{}}
	if s.Texts == nil {
		return m, f.Site == ""
	}
	if f.Site != "" {
		detail, ok := s.Texts.Site(f.Site, s.Now)
		if ok {
			m.Detail, m.Managed = &detail, append(m.Managed, detail.ManagedSite)
		}
		return m, ok
	}
	sites := s.Texts.Sites(s.Now)
	m.More = max(0, len(sites)-maxManaged)
	m.Managed = append(m.Managed, sites[:len(sites)-m.More]...)
	return m, true
}
