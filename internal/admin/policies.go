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

// PolicyList is the response to a request for the robots.txt files of all sites.
type PolicyList struct {
	Policies []PolicySummary `json:"policies"`
	Total    int             `json:"total"`
	// Next is the value of the parameter "after" for the next page. It is empty on the last page.
	Next string `json:"next,omitempty"`
}

// PolicySummary describes the cached robots.txt of a site.
type PolicySummary struct {
	Authority string `json:"authority"`
	// Server is the address at which the server listens, if another server has the same host.
	Server  string `json:"server,omitempty"`
	Source  string `json:"source"`  // Source is the kind of the source: server, url or file.
	Segment string `json:"segment"` // Segment is the cache segment: named or invented.
	// Status is the status of the last good response, or 0 without one.
	Status       int        `json:"status"`
	LastOutcome  string     `json:"last_meaning,omitempty"`
	LastError    string     `json:"last_error,omitempty"`
	FailureCount int        `json:"failures"`
	FailingSince *time.Time `json:"failing_since,omitempty"`
	Version      string     `json:"version,omitempty"` // Version is the SHA-256 of the version.
	FirstFetched *time.Time `json:"first_read,omitempty"`
	LastFetched  *time.Time `json:"last_read,omitempty"`
	AgeSeconds   float64    `json:"age_seconds"`
	NextRefresh  *time.Time `json:"next_refresh,omitempty"`
	// Expires is the time at which the version expires, unless the robots.txt is unreachable.
	Expires      *time.Time `json:"expires,omitempty"`
	RuleCount    int        `json:"rules"`
	FindingCount int        `json:"findings"`
	VersionCount int        `json:"versions"` // VersionCount is the number of stored versions, with the current one.
	// TakesEffect is the time from which only the current version applies. Before this time a
	// crawler may obey an earlier version. It is absent if only the current version applies.
	TakesEffect *time.Time `json:"takes_effect,omitempty"`
	// NotProtecting is the reason why the file disallows nothing although a site is in enforce
	// mode. It is absent if the file has rules, or no site with this file is in enforce mode.
	NotProtecting *report.ProtectionProblem `json:"not_protecting,omitempty"`
	// WithheldFrom describes the crawlers that receive another response instead of the file, and
	// the remedy.
	WithheldFrom []string `json:"withheld,omitempty"`
}

// PolicyReport is the response to a request for the robots.txt of one site.
type PolicyReport struct {
	PolicySummary
	FindingList []lint.Finding `json:"finding_list"`
	// UnlistedFindings is the number of findings beyond those in the list.
	UnlistedFindings int             `json:"unreported"`
	VersionList      []PolicyVersion `json:"version_list"`
	Refresh          *PolicyRefresh  `json:"refresh,omitempty"` // Refresh is set only in the response to a refresh.
}

// PolicyVersion is a stored version of a site's robots.txt.
type PolicyVersion struct {
	Version      string     `json:"version"`
	Status       int        `json:"status"`
	RuleCount    int        `json:"rules"`
	Bytes        int        `json:"bytes"`
	FirstFetched time.Time  `json:"first_read"`
	LastFetched  time.Time  `json:"last_read"`
	GraceUntil   *time.Time `json:"until,omitempty"`
}

// These are bounds of a page of policies.
const (
	defaultPage = 100
	maxPage     = 1000
)

// servePolicies responds with a page of the list of all robots.txt files.
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
		list.Policies = append(list.Policies, newPolicySummary(running, takesEffect, e.Entry, e.State(), time.Now()))
		list.Next = e.key
	}
	if len(entries) == 0 || list.Next == entries[len(entries)-1].key {
		list.Next = ""
	}
	return list, nil
}

// servePolicy responds with the robots.txt of a site. Before that, it fetches the file or ends the
// grace of earlier versions if the path says so.
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
		e = running.Policy(splitScheme(name))
	}
	if e == nil {
		if scheme, authority := splitScheme(name); scheme == "http" {
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
	return newPolicyReport(running, e, e.State(), time.Now()), nil
}

// newPolicySummary describes a cached robots.txt. s is the state of e that the caller has read,
// because e may get another state at any time.
func newPolicySummary(running RunningConfig, takesEffect func(policy.Key) time.Time, e *policy.Entry, s *policy.State, now time.Time) PolicySummary {
	r := PolicySummary{Authority: e.Key().String(), Server: e.Key().Server, Source: e.Key().SourceKind(), Segment: e.Segment().String(), WithheldFrom: running.WithheldFrom(e.Key())}
	if s == nil {
		return r
	}
	r.LastOutcome, r.NextRefresh, r.FailureCount = s.LastResult.String(), &s.NextFetch, s.FailureCount
	if s.FailureCount > 0 {
		r.FailingSince = &s.FailingSince
	}
	r.LastError = report.DescribeFetchProblem(s)
	if at := takesEffect(e.Key()); !at.IsZero() {
		r.TakesEffect = &at
	}
	if running.Enforces(e.Key()) {
		r.NotProtecting = report.FindProtectionProblem(s, r.Source)
	}
	if good := s.Current; good != nil {
		expires := good.LastFetched.Add(policy.MaxAge)
		r.Status, r.Version = good.Status, hashText(good)
		r.FirstFetched, r.LastFetched, r.Expires = &good.FirstFetched, &good.LastFetched, &expires
		r.AgeSeconds = now.Sub(good.LastFetched).Seconds()
		r.RuleCount, r.FindingCount, r.VersionCount = good.Robots.RuleCount(), running.LintFindings(e.Key(), good).TotalCount(), 1+len(s.Previous)
	}
	return r
}

// newPolicyReport describes a cached robots.txt with its findings and its stored versions.
func newPolicyReport(running RunningConfig, e *policy.Entry, s *policy.State, now time.Time) PolicyReport {
	r := PolicyReport{PolicySummary: newPolicySummary(running, running.EffectiveTimes(), e, s, now), FindingList: []lint.Finding{}, VersionList: []PolicyVersion{}}
	if s == nil || s.Current == nil {
		return r
	}
	found := running.LintFindings(e.Key(), s.Current)
	r.UnlistedFindings = found.UnlistedFindings
	r.FindingList = append(r.FindingList, found.Findings...)
	for _, v := range append([]*policy.Version{s.Current}, s.Previous...) {
		report := PolicyVersion{
			Version: hashText(v), Status: v.Status, RuleCount: v.Robots.RuleCount(),
			Bytes: len(v.Robots.Text()), FirstFetched: v.FirstFetched, LastFetched: v.LastFetched,
		}
		if !v.ReplacedAt.IsZero() {
			report.GraceUntil = &v.ReplacedAt
		}
		r.VersionList = append(r.VersionList, report)
	}
	return r
}

// hashText returns the SHA-256 of a robots.txt in hexadecimal.
func hashText(v *policy.Version) string { return fmt.Sprintf("%x", v.Hash) }
