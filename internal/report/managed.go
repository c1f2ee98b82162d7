package report

import "time"

// ManagedRobots is the state of the robots.txt files that the directive robots_txt serves.
type ManagedRobots struct {
	ViewHeader
	// Managed lists the hosts of the configuration, and other hosts whose robots.txt was requested,
	// sorted by name. The list is never null.
	Managed []ManagedSite `json:"managed"`
	// MoreHosts is the number of hosts that are not listed because of the limit.
	MoreHosts int `json:"more,omitempty"`
	// Detail has the details of the site that the filter selects, if any.
	Detail *ManagedDetail `json:"detail,omitempty"`
}

// ManagedSite is a summary of the robots.txt of one host.
type ManagedSite struct {
	Host string `json:"host"` // Host may be a wildcard. "" means any host.
	// Version is the version named in a comment of the served file. It is absent before the first
	// request for the file, and while the site's own file is served.
	Version      string    `json:"version,omitempty"`
	Since        time.Time `json:"since,omitzero"` // Since is the time at which the served file came into force.
	Staging      bool      `json:"staging"`
	RulesInForce int       `json:"rules_in_force"`
	// NextChange is the time of the next scheduled change, if any.
	NextChange time.Time   `json:"next,omitzero"`
	Base       ManagedBase `json:"base"`
	// Refused is the reason why the composed file is not served, if any. Then the previous file or
	// the site's own file is served.
	Refused *ManagedRefusal `json:"refused,omitempty"`
	// Trial is the change that is served to some hosts or operators first, if any.
	Trial *ManagedTrial `json:"trial,omitempty"`
	// Lists are the rule lists that are stored outside of the configuration.
	Lists []ManagedList `json:"lists,omitempty"`
}

// ManagedTrial is a change that is served to some hosts or operators only.
type ManagedTrial struct {
	Change string    `json:"change"`         // Change is the ID of the change.
	Until  time.Time `json:"until,omitzero"` // Until is the automatic end, if any.
}

// ManagedBase is the robots.txt to which robots_txt adds rules.
type ManagedBase struct {
	Kind string `json:"kind"`           // Kind is upstream, file or none.
	File string `json:"file,omitempty"` // File is the path of the file.
	// FetchedAt is the time of the last successful fetch, if any.
	FetchedAt time.Time `json:"read,omitzero"`
	Status    int       `json:"status,omitempty"` // Status is the status of that response.
	// FailingSince is the time of the first of the failed fetches in a row, and Failure the error
	// of the last.
	FailingSince time.Time `json:"failing_since,omitzero"`
	Failure      string    `json:"failure,omitempty"`
}

// ManagedRefusal is the reason why a composed file is not served.
type ManagedRefusal struct {
	Since  time.Time `json:"since"`
	Reason string    `json:"why"`
}

// ManagedDetail has all data about the robots.txt of one host.
type ManagedDetail struct {
	ManagedSite
	// Text is the served file, or "" if this is the site's own file.
	Text  string        `json:"text"`
	Lines []ManagedLine `json:"lines"` // Lines are the lines of Text that rules have added.
	Rules []ManagedRule `json:"rules"`
	// ScheduledChanges are the changes of the next 400 days, in order.
	ScheduledChanges []ScheduledChange `json:"turns"`
	Findings         []ManagedFinding  `json:"findings"`
	// Changes are the changes of the host: changes that wait or are on trial first, then the change
	// in force and the latest previous changes. The list is never null.
	Changes []ManagedChange `json:"changes"`
}

// ManagedLine is a line of the served file, with the names of the rules that produce it.
type ManagedLine struct {
	Line  int      `json:"line"` // from 1
	Text  string   `json:"text"`
	Rules []string `json:"rules"` // Rules are the names of the rules.
}

// ManagedRule is a rule of the directive robots_txt.
type ManagedRule struct {
	Name     string    `json:"name"`
	Effect   string    `json:"says"`
	For      []string  `json:"for"`
	State    string    `json:"state"` // State is in_force, to_come or over.
	From     time.Time `json:"from,omitzero"`
	Until    time.Time `json:"until,omitzero"`
	Hosts    []string  `json:"hosts,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Owner    string    `json:"owner,omitempty"`
	Ticket   string    `json:"ticket,omitempty"`
	Position string    `json:"at,omitempty"` // Position is the position in the configuration.
}

// These are the values of ManagedRule.State.
const (
	RuleInForce = "in_force"
	RuleToCome  = "to_come"
	RuleOver    = "over"
)

// ScheduledChange is a future change of the file, because the time of rules begins or ends.
type ScheduledChange struct {
	At      time.Time `json:"at"`
	Begins  []string  `json:"begins"` // Begins has the names of the rules that begin.
	Ends    []string  `json:"ends"`
	Added   []string  `json:"added"` // Added has the lines that the file gains if the base stays the same.
	Removed []string  `json:"removed"`
}

// ManagedFinding is a finding about the served file. The option gate refuses a new file with severe
// findings.
type ManagedFinding struct {
	Code     string   `json:"code"`
	Severity string   `json:"severity"`
	Rules    []string `json:"rules"`
	Position string   `json:"at,omitempty"`
	Message  string   `json:"message"`
}

// ManagedFiles provides the state of the files that robots_txt serves.
type ManagedFiles interface {
	// Sites returns a summary of each host, sorted by name.
	Sites(now time.Time) []ManagedSite
	// Site returns the details of a host. ok is false for an unknown host.
	Site(host string, now time.Time) (ManagedDetail, bool)
}

// maxManagedHosts is the maximum number of hosts in a list.
const maxManagedHosts = 1000

// ManagedRobots returns the state of robots_txt. ok is false if the filter selects a site without
// robots_txt.
func (s *Source) ManagedRobots(f Filter) (m ManagedRobots, ok bool) {
	m = ManagedRobots{ViewHeader: s.applyFilter(f).header(), Managed: []ManagedSite{}}
	if s.ManagedFiles == nil {
		return m, f.Site == ""
	}
	if f.Site != "" {
		detail, ok := s.ManagedFiles.Site(f.Site, s.Now)
		if ok {
			m.Detail, m.Managed = &detail, append(m.Managed, detail.ManagedSite)
		}
		return m, ok
	}
	sites := s.ManagedFiles.Sites(s.Now)
	m.MoreHosts = max(0, len(sites)-maxManagedHosts)
	m.Managed = append(m.Managed, sites[:len(sites)-m.MoreHosts]...)
	return m, true
}
