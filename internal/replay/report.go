package replay

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Report is what a replay found. Lines is the sum of Malformed, Other,
// OtherSite, OtherTime, Browsers and Requests. docs/audit.md documents the JSON
// that it makes.
type Report struct {
	Created time.Time    `json:"created"`
	Lines   uint64       `json:"lines"`
	Logs    []*LogReport `json:"logs"`
	// Malformed lines are no lines of their log's format, or too long.
	Malformed uint64    `json:"malformed"`
	Examples  []Example `json:"malformed_examples,omitempty"`
	// Other lines hold no request that can be judged.
	Other     uint64 `json:"other"`
	OtherSite uint64 `json:"other_site"`
	OtherTime uint64 `json:"other_time"`
	Browsers  uint64 `json:"browsers"`
	// Requests are those of all clients that are no browsers. What they do not
	// say is allowed.
	Requests   uint64 `json:"requests"`
	Disallowed uint64 `json:"disallowed"`
	Stale      uint64 `json:"stale"`
	Exempt     uint64 `json:"exempt"`
	// First and Last are the times of the first and last request of the site,
	// nil if the logs have no times.
	First    *time.Time      `json:"first"`
	Last     *time.Time      `json:"last"`
	Sites    []string        `json:"sites"`
	Hosts    []HostReport    `json:"hosts"`
	Robots   []VersionReport `json:"robots"`
	Classes  []ClassReport   `json:"classes"`
	Crawlers []CrawlerReport `json:"crawlers"`
	Rules    []RuleReport    `json:"rules"`
	Paths    []PathReport    `json:"paths"`
	Days     []DayReport     `json:"days"`
	// Notes are sentences about what limits the report.
	Notes []string `json:"notes"`
	// Incomplete says why not all was read, if so.
	Incomplete string `json:"incomplete,omitempty"`

	edit *EditReport // nil if no edit is looked at
}

// LogReport is about one log.
type LogReport struct {
	Name        string `json:"name"`
	Format      string `json:"format"`
	Compression string `json:"compression,omitempty"`
	Lines       int    `json:"lines"`
	Malformed   int    `json:"malformed"`
	Empty       bool   `json:"empty,omitempty"`
}

// Example is a malformed line.
type Example struct {
	Log     string `json:"log"`
	Line    int    `json:"line"`
	Problem string `json:"problem"`
	Text    string `json:"text"` // its start
}

// HostReport is a host that the logs name. Of many, the rarer are left out and
// the counts of others may be too high.
type HostReport struct {
	Host  string `json:"host"`
	Lines uint64 `json:"lines"`
}

// VersionReport is a version of the robots.txt.
type VersionReport struct {
	Name  string     `json:"name"`
	From  *time.Time `json:"from"` // nil for the only one
	Rules int        `json:"rules"`
}

// ClassReport is about all clients of a class. WouldBlock is what the handler
// would have refused in the mode enforce.
type ClassReport struct {
	Class      string `json:"class"`
	Crawlers   int    `json:"crawlers"`
	Requests   uint64 `json:"requests"`
	Disallowed uint64 `json:"disallowed"`
	Stale      uint64 `json:"stale"`
	Exempt     uint64 `json:"exempt"`
	WouldBlock uint64 `json:"would_block"`
}

// CrawlerReport is about a crawler, as it calls itself. "_other" stands for all
// clients of the class whose names neither the registry nor the robots.txt has.
type CrawlerReport struct {
	Token          string     `json:"token"`
	Class          string     `json:"class"`
	Requests       uint64     `json:"requests"`
	Allowed        uint64     `json:"allowed"`
	Disallowed     uint64     `json:"disallowed"`
	Stale          uint64     `json:"stale"`
	Exempt         uint64     `json:"exempt"`
	RobotsRequests uint64     `json:"robots_requests"`
	RobotsRead     *time.Time `json:"robots_read"`   // when it last got it, nil for never
	RobotsStatus   int        `json:"robots_status"` // the status it got then, 0 for never
	Last           *time.Time `json:"last"`          // its last request
}

// RuleReport is about a rule that was broken.
type RuleReport struct {
	Rule     string         `json:"rule"`
	Line     int            `json:"line"`
	Group    string         `json:"group"`
	Robots   string         `json:"robots"` // the name of the version
	Requests uint64         `json:"requests"`
	Crawlers []RuleCrawlers `json:"crawlers"`
}

// RuleCrawlers is who broke a rule.
type RuleCrawlers struct {
	Token    string `json:"token"`
	Requests uint64 `json:"requests"`
}

// PathReport is a path that a crawler asked for although it must not. Excess is
// by how much Requests may be too high, where there were too many paths to count
// each.
type PathReport struct {
	Path     string `json:"path"`
	Token    string `json:"token"`
	Requests uint64 `json:"requests"`
	Excess   uint64 `json:"excess"`
}

// DayReport is about one day, in UTC.
type DayReport struct {
	Date       string `json:"date"`
	Requests   uint64 `json:"requests"`
	Disallowed uint64 `json:"disallowed"`
}

// Bounds of the report.
const (
	reportedRules = 200
	reportedPaths = 200
	reportedHosts = 20
	ruleCrawlers  = 20
)

// fill makes the report of the counts.
func (r *Report) fill(p *plan, t *tally, s *sequence, o *Options, logs []*input) {
	r.Lines, r.Malformed, r.Other, r.OtherSite, r.OtherTime = t.lines, t.malformed, t.other, t.otherSite, t.otherTime
	r.Browsers, r.Requests, r.Examples = t.browsers, t.requests, s.examples
	if t.first <= t.last {
		r.First, r.Last = pointer(t.first), pointer(t.last)
	}
	r.Sites = append([]string{}, o.Sites...)
	r.fillVersions(p)
	r.fillCrawlers(p, t)
	r.fillRules(p, t)
	r.fillPaths(p, t)
	r.Hosts = []HostReport{}
	for _, e := range t.hosts.top() {
		if len(r.Hosts) == reportedHosts {
			break
		}
		r.Hosts = append(r.Hosts, HostReport{Host: valid(e.key), Lines: e.count})
	}
	r.Days = []DayReport{}
	for day, d := range t.days {
		r.Days = append(r.Days, DayReport{Date: timeOf(int64(day) * 86400 * second).Format(time.DateOnly), Requests: d.requests, Disallowed: d.disallowed})
	}
	slices.SortFunc(r.Days, func(a, b DayReport) int { return strings.Compare(a.Date, b.Date) })
	r.fillNotes(p, t, o, logs)
}

func (r *Report) fillVersions(p *plan) {
	for _, v := range p.versions {
		report := VersionReport{Name: v.name, Rules: v.robots.RuleCount()}
		if !v.single() {
			report.From = pointer(v.from)
		}
		r.Robots = append(r.Robots, report)
	}
}

func (r *Report) fillCrawlers(p *plan, t *tally) {
	classes := make(map[uaident.Class]*ClassReport)
	r.Crawlers, r.Classes = []CrawlerReport{}, []ClassReport{}
	for id, c := range t.crawlers {
		if c.requests == 0 {
			continue
		}
		key := p.crawlers.key(int32(id))
		row := CrawlerReport{
			Token: key.name, Class: key.class.String(), Requests: c.requests, Disallowed: c.disallowed, Stale: c.stale, Exempt: c.exempt,
			Allowed: c.requests - c.disallowed - c.stale - c.exempt, RobotsRequests: c.robots, RobotsStatus: c.readStatus,
		}
		if c.readStatus > 0 && c.read != 0 {
			row.RobotsRead = pointer(c.read)
		}
		if c.last != 0 {
			row.Last = pointer(c.last)
		}
		r.Crawlers = append(r.Crawlers, row)
		class := classes[key.class]
		if class == nil {
			class = &ClassReport{Class: row.Class}
			classes[key.class] = class
		}
		class.Crawlers++
		class.Requests += c.requests
		class.Disallowed += c.disallowed
		class.WouldBlock += c.disallowed - c.spared
		class.Stale += c.stale
		class.Exempt += c.exempt
		r.Disallowed += c.disallowed
		r.Stale += c.stale
		r.Exempt += c.exempt
	}
	slices.SortFunc(r.Crawlers, func(a, b CrawlerReport) int {
		return cmp.Or(cmp.Compare(b.Disallowed, a.Disallowed), cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Token, b.Token), strings.Compare(a.Class, b.Class))
	})
	for _, class := range classes {
		r.Classes = append(r.Classes, *class)
	}
	slices.SortFunc(r.Classes, func(a, b ClassReport) int {
		return cmp.Or(cmp.Compare(b.Disallowed, a.Disallowed), cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Class, b.Class))
	})
}

func (r *Report) fillRules(p *plan, t *tally) {
	type place struct{ version, line int32 }
	rules := make(map[place]*RuleReport)
	for key, c := range t.rules {
		at := place{key.version, key.line}
		rule := rules[at]
		if rule == nil {
			rule = &RuleReport{Rule: valid([]byte(c.rule.String())), Line: c.rule.Line, Group: valid([]byte(c.group)), Robots: p.versions[key.version].name}
			rules[at] = rule
		}
		rule.Requests += c.count
		rule.Crawlers = append(rule.Crawlers, RuleCrawlers{Token: p.crawlers.key(key.crawler).name, Requests: c.count})
	}
	r.Rules = []RuleReport{}
	for _, rule := range rules {
		slices.SortFunc(rule.Crawlers, func(a, b RuleCrawlers) int {
			return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Token, b.Token))
		})
		rule.Crawlers = rule.Crawlers[:min(len(rule.Crawlers), ruleCrawlers)]
		r.Rules = append(r.Rules, *rule)
	}
	slices.SortFunc(r.Rules, func(a, b RuleReport) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Robots, b.Robots), cmp.Compare(a.Line, b.Line))
	})
	r.Rules = r.Rules[:min(len(r.Rules), reportedRules)]
}

func (r *Report) fillPaths(p *plan, t *tally) {
	r.Paths = []PathReport{}
	for _, e := range t.paths.top() {
		key := p.crawlers.key(int32(binary.BigEndian.Uint32(e.key)))
		r.Paths = append(r.Paths, PathReport{Path: valid(e.key[4:]), Token: key.name, Requests: e.count, Excess: e.excess})
	}
	slices.SortStableFunc(r.Paths, func(a, b PathReport) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Path, b.Path), strings.Compare(a.Token, b.Token))
	})
	r.Paths = r.Paths[:min(len(r.Paths), reportedPaths)]
}

// fillNotes says what a reader of the report has to know.
func (r *Report) fillNotes(p *plan, t *tally, o *Options, logs []*input) {
	r.Notes = []string{}
	note := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	for _, in := range logs {
		switch {
		case in.empty && in.format == nil:
			note("%s is empty.", in.name)
		case in.format != nil && !in.format.agent:
			note("%s has no User-Agents (format %s), so all its requests count as those of browsers.", in.name, in.format.Name)
		}
	}
	if r.Last != nil && !o.Now.IsZero() && r.Last.After(o.Now.Add(time.Hour)) {
		note("The logs reach into the future, to %s, by the clock of this machine.", r.Last.Format(time.RFC3339))
	}
	r.noteHosts(p, t, o, note)
	if p.byHost == nil && t.lines > 0 && t.otherSite == t.lines-t.malformed-t.other-t.otherTime && t.otherSite > 0 && len(r.Hosts) > 0 {
		note("No request is of %s; the logs have %s.", strings.Join(o.Sites, " or "), r.Hosts[0].Host)
	}
	if t.requests == 0 && t.noAgent == t.browsers && t.browsers > 1 && agents(logs) {
		note("No request has a User-Agent; if the log leaves out that header, have it written.")
	}
	if t.beforeFirst > 0 {
		note("%d requests came before the first version of the robots.txt and were judged by that.", t.beforeFirst)
	}
	if t.tooLong > 0 {
		note("%d lines were longer than 512 KiB and skipped.", t.tooLong)
	}
	if t.rulesDropped > 0 {
		note("%d requests are missing in the table of rules, which holds %d pairs of a rule and a crawler.", t.rulesDropped, maxRules)
	}
}

// noteHosts says whose requests were judged by whose robots.txt.
func (r *Report) noteHosts(p *plan, t *tally, o *Options, note func(format string, args ...any)) {
	var names, without []string
	for _, host := range r.Hosts {
		text := fmt.Sprintf("%s (%d lines)", host.Host, host.Lines)
		names = append(names, text)
		if _, ok := p.byHost[host.Host]; !ok {
			without = append(without, text)
		}
	}
	switch {
	case p.byHost == nil && len(names) > 1 && len(o.Sites) == 0:
		note("The logs name several hosts, and all were judged by the same robots.txt: %s. --site chooses one; --robots takes a directory with that of each host.", listed(names))
	case p.byHost != nil && len(without) > 0 && len(o.Sites) == 0:
		note("No robots.txt is there for %s; their requests count as those of other sites.", listed(without))
	}
	if t.noHost > 0 {
		note("%d requests do not say of which host they are, so that no robots.txt is for them; give one as a file, or have the log name the host.", t.noHost)
	}
}

// listed names the first of a list.
func listed(names []string) string {
	const most = 3
	text := strings.Join(names[:min(len(names), most)], ", ")
	if n := len(names) - most; n > 0 {
		text += " and others"
	}
	return text
}

// agents reports whether a log has a place for User-Agents.
func agents(logs []*input) bool {
	return slices.ContainsFunc(logs, func(in *input) bool { return in.format != nil && in.format.agent })
}

func pointer(at int64) *time.Time {
	t := timeOf(at)
	return &t
}

// valid makes what a client sent fit for a report.
func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }
