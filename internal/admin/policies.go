package admin

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// PoliciesPath is the path of the policies:
//
//	GET  /robots_guard/policies[?limit=<n>][&after=<authority>]
//	GET  /robots_guard/policies/<authority>[?server=<address>]
//	POST /robots_guard/policies/<authority>/refresh[?server=<address>]
//	POST /robots_guard/policies/<authority>/end-grace[?server=<address>]
//
// An authority is a host, with the port unless the port is the default. The prefix "https:/" or
// "http:/" selects the scheme. It has one slash, because a path cannot contain two consecutive
// slashes. The name of a policy from a URL or a file is the URL or the file. The parameter server
// selects one of two servers with the same host.
const PoliciesPath = "/robots_guard/policies"

// PolicyList is the response to GET without an authority.
type PolicyList struct {
	Policies []PolicySummary `json:"policies"`
	Total    int             `json:"total"`
	// Next is the value of after for the next page, "" on the last.
	Next string `json:"next,omitempty"`
}

// PolicySummary is the state of a site's robots.txt.
type PolicySummary struct {
	Authority    string     `json:"authority"`
	Server       string     `json:"server,omitempty"` // where the server listens, if another server has the same host
	Source       string     `json:"source"`           // server, url or file
	Segment      string     `json:"segment"`          // named or invented
	Status       int        `json:"status"`           // the status of the last good response; 0 without one
	LastOutcome  string     `json:"last_meaning,omitempty"`
	LastError    string     `json:"last_error,omitempty"`
	FailureCount int        `json:"failures"`
	FailingSince *time.Time `json:"failing_since,omitempty"`
	Version      string     `json:"version,omitempty"` // SHA-256
	FirstFetched *time.Time `json:"first_read,omitempty"`
	LastFetched  *time.Time `json:"last_read,omitempty"`
	AgeSeconds   float64    `json:"age_seconds"`
	NextRefresh  *time.Time `json:"next_refresh,omitempty"`
	Expires      *time.Time `json:"expires,omitempty"` // when the version expires, unless the robots.txt is unreachable
	RuleCount    int        `json:"rules"`
	FindingCount int        `json:"findings"`
	VersionCount int        `json:"versions"` // number of stored versions, with the current one
	// EffectiveTimes is the time from which the current version alone decides. Before this time a
	// crawler may follow an earlier version. Absent if the current version already decides alone.
	TakesEffect *time.Time `json:"takes_effect,omitempty"`
	// NotProtecting is the reason why enforce has nothing to enforce. Absent if enforce has rules,
	// and if no site with this robots.txt is in enforce mode.
	NotProtecting *report.NotProtecting `json:"not_protecting,omitempty"`
	// WithheldFrom names crawlers with another response instead of the file, and the remedy.
	WithheldFrom []string `json:"withheld,omitempty"`
}

// PolicyReport is the response to GET with an authority.
type PolicyReport struct {
	PolicySummary
	FindingList      []lint.Finding  `json:"finding_list"`
	UnlistedFindings int             `json:"unreported"` // findings beyond those in the list
	VersionList      []PolicyVersion `json:"version_list"`
	Refresh          *PolicyRefresh  `json:"refresh,omitempty"` // only in the response to a refresh
}

// PolicyVersion is a stored version of a robots.txt.
type PolicyVersion struct {
	Version      string     `json:"version"`
	Status       int        `json:"status"`
	RuleCount    int        `json:"rules"`
	Bytes        int        `json:"bytes"`
	FirstFetched time.Time  `json:"first_read"`
	LastFetched  time.Time  `json:"last_read"`
	GraceUntil   *time.Time `json:"until,omitempty"`
}

// Bounds of a page of policies.
const (
	defaultPage = 100
	maxPage     = 1000
)

// servePolicies responds with a page of the policies of all sites.
func (a *API) servePolicies(_ http.ResponseWriter, r *http.Request) (any, error) {
	limit, err := parseNumber(r.URL.Query(), "limit", defaultPage, 1, maxPage)
	if err != nil {
		return nil, err
	}
	running := a.findRunning()
	entries := sortEntries(running.Policies())
	list := PolicyList{Policies: []PolicySummary{}, Total: len(entries)}
	after, takesEffect := r.URL.Query().Get("after"), running.EffectiveTimes()
	for _, e := range entries {
		if e.key <= after {
			continue
		}
		if len(list.Policies) == limit {
			break
		}
		list.Policies = append(list.Policies, policySummary(running, takesEffect, e.Entry, e.State(), time.Now()))
		list.Next = e.key
	}
	if len(entries) == 0 || list.Next == entries[len(entries)-1].key {
		list.Next = ""
	}
	return list, nil
}

// servePolicy responds with the policy of a site, or refreshes the site's robots.txt.
func (a *API) servePolicy(_ http.ResponseWriter, r *http.Request) (any, error) {
	name := strings.TrimPrefix(r.URL.Path, PoliciesPath+"/")
	name, refresh := strings.CutSuffix(name, "/refresh")
	name, endGrace := strings.CutSuffix(name, "/end-grace")
	if changes := r.Method == http.MethodPost; changes != (refresh || endGrace) {
		return nil, httpError(http.StatusMethodNotAllowed, "use GET to read a policy, and POST to change it")
	}
	running := a.findRunning()
	server := r.URL.Query().Get("server")
	e := findEntry(running.Policies(), name, server)
	if e == nil && refresh && server == "" {
		e = running.Policy(schemeAndAuthority(name))
	}
	if e == nil {
		if scheme, authority := schemeAndAuthority(name); scheme == "http" {
			if _, guard := running.Guard("http://" + authority); guard != nil && guard.HTTPSTarget != "" {
				return nil, httpError(http.StatusNotFound, "http://%s has no robots.txt of its own and redirects to https://%s; use the https URL", authority, guard.HTTPSTarget)
			}
		}
		return nil, httpError(http.StatusNotFound, "there is no policy for %q; give a host of the configuration, with any non-default port, or a host in the list of GET %s", name, PoliciesPath)
	}
	if endGrace {
		running.EndGrace(e.Key())
	}
	if refresh {
		return refreshPolicy(r.Context(), running, e), nil
	}
	return policyReport(running, e, e.State(), time.Now()), nil
}

// policySummary summarises an entry in state s, which may be replaced meanwhile.
func policySummary(running Running, takesEffect func(policy.Key) time.Time, e *policy.Entry, s *policy.State, now time.Time) PolicySummary {
	r := PolicySummary{Authority: e.Key().String(), Server: e.Key().Server, Source: e.Key().SourceKind(), Segment: e.Segment().String(), WithheldFrom: running.WithheldFrom(e.Key())}
	if s == nil {
		return r
	}
	r.LastOutcome, r.NextRefresh, r.FailureCount = s.LastResult.String(), &s.NextFetch, s.FailureCount
	if s.FailureCount > 0 {
		r.FailingSince = &s.FailingSince
	}
	r.LastError = report.FetchProblem(s)
	if at := takesEffect(e.Key()); !at.IsZero() {
		r.TakesEffect = &at
	}
	if running.Enforces(e.Key()) {
		r.NotProtecting = report.FindNotProtecting(s, r.Source)
	}
	if good := s.Current; good != nil {
		expires := good.LastFetched.Add(policy.MaxAge)
		r.Status, r.Version = good.Status, versionName(good)
		r.FirstFetched, r.LastFetched, r.Expires = &good.FirstFetched, &good.LastFetched, &expires
		r.AgeSeconds = now.Sub(good.LastFetched).Seconds()
		r.RuleCount, r.FindingCount, r.VersionCount = good.Robots.RuleCount(), running.LintFindings(e.Key(), good).TotalCount(), 1+len(s.Previous)
	}
	return r
}

// policyReport returns the summary with the details.
func policyReport(running Running, e *policy.Entry, s *policy.State, now time.Time) PolicyReport {
	r := PolicyReport{PolicySummary: policySummary(running, running.EffectiveTimes(), e, s, now), FindingList: []lint.Finding{}, VersionList: []PolicyVersion{}}
	if s == nil || s.Current == nil {
		return r
	}
	found := running.LintFindings(e.Key(), s.Current)
	r.UnlistedFindings = found.UnlistedFindings
	r.FindingList = append(r.FindingList, found.Findings...)
	for _, v := range append([]*policy.Version{s.Current}, s.Previous...) {
		report := PolicyVersion{
			Version: versionName(v), Status: v.Status, RuleCount: v.Robots.RuleCount(),
			Bytes: len(v.Robots.Text()), FirstFetched: v.FirstFetched, LastFetched: v.LastFetched,
		}
		if !v.ReplacedAt.IsZero() {
			report.GraceUntil = &v.ReplacedAt
		}
		r.VersionList = append(r.VersionList, report)
	}
	return r
}

// versionName returns the SHA-256 of a version in hexadecimal.
func versionName(v *policy.Version) string { return fmt.Sprintf("%x", v.Hash) }
