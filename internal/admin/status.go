package admin

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
)

// StatusPath is the path of the state of the server:
//
//	GET /robots_guard/status[?site=<site>]
//
// The response is a [Status]. A site is a configured host or the address of a robots.txt.
const StatusPath = "/robots_guard/status"

// Status is the state of the sites, the alerts, and the results of the robots.txt files on trial.
type Status struct {
	alert.List
	Sites []report.SiteStatus `json:"sites"`
	// TrialFiles are the robots.txt files on trial. Trials has the results for each site.
	TrialFiles []report.TrialFile `json:"texts"`
	Trials     []report.Trial     `json:"trials"`
}

// serveStatus responds with the state of all sites, or of the site in the parameter site.
func (a *API) serveStatus(_ http.ResponseWriter, r *http.Request) (any, error) {
	running := a.findRunning()
	source := running.Reports(time.Now())
	tried := source.Shadow(report.Filter{})
	s := Status{List: listAlerts(running), Sites: source.SiteStatuses(siteStates(running, source)), TrialFiles: tried.TrialFiles, Trials: tried.Trials}
	name := r.URL.Query().Get("site")
	if name == "" {
		return s, nil
	}
	labels := make(map[string]bool)
	s.Sites = slices.DeleteFunc(s.Sites, func(one report.SiteStatus) bool {
		labels[one.Site] = matchesSite(&one, name)
		return !labels[one.Site]
	})
	if len(s.Sites) == 0 {
		return nil, httpError(http.StatusNotFound, "this server has no robots_guard for %.80q; GET %s lists all sites", name, StatusPath)
	}
	// Alerts about the server count for each site.
	s.Alerts = slices.DeleteFunc(s.Alerts, func(one alert.Alert) bool { return one.Site != "" && !labels[one.Site] })
	s.Trials = slices.DeleteFunc(s.Trials, func(one report.Trial) bool { return !labels[one.Site] })
	return s, nil
}

// matchesSite reports whether name is the configured host of a site, or the address of its
// robots.txt. The address may lack the scheme and the port.
func matchesSite(s *report.SiteStatus, name string) bool {
	_, wanted := splitScheme(name)
	_, authority := splitScheme(s.Robots.Authority)
	host, _ := addr.SplitPort(authority)
	switch {
	case s.Site == name, PathEscapeName(s.Robots.Authority) == PathEscapeName(name):
		return true
	case strings.Contains(name, ":/"):
		return false
	}
	return s.Robots.Source == "server" && (authority == wanted || host == wanted)
}

// siteStates returns the state of each site by its label. It adds configured sites without a
// crawler's request to the recorded sites.
func siteStates(running RunningConfig, source *report.Source) map[string]report.SiteState {
	sites := maps.Clone(source.SiteStates)
	if sites == nil {
		sites = make(map[string]report.SiteState)
	}
	for label, mode := range running.Modes() {
		if _, known := sites[label]; !known {
			sites[label] = report.SiteState{Mode: mode, Enforces: mode != judge.ModeWord(false)}
		}
	}
	for _, e := range running.Policies() {
		key := e.Key()
		label := site.NewSite(key).Label
		if live, known := sites[label]; known && live.State == nil && key.Source == "" {
			live.Authority, live.Source, live.State = key.String(), key.SourceKind(), e.State()
			sites[label] = live
		}
	}
	return sites
}
