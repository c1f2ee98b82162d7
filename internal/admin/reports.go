package admin

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// reportPrefix is the prefix of the report paths in Caddy's admin API.
const reportPrefix = "/robots_guard/"

// reportRoutes returns the endpoints with the views of the ledger:
//
//	GET /robots_guard/summary
//	GET /robots_guard/crawlers[?limit=<n>][&after=<n>]
//	GET /robots_guard/crawlers/<id>
//	GET /robots_guard/crawlers/<id>/evidence
//	GET /robots_guard/violations[?limit=<n>][&after=<n>]
//	GET /robots_guard/robots?site=<site>
//	GET /robots_guard/impact
//	GET /robots_guard/parity
//	GET /robots_guard/managed
//	GET /robots_guard/shadow
//
// All of them accept the filters site, host, class, identity and window. The last view ignores
// window.
func (a *API) reportRoutes() []caddy.AdminRoute {
	var routes []caddy.AdminRoute
	for _, it := range []struct {
		path       string
		parameters []string
		view       reportFunc
	}{
		{"summary", filters, func(s *report.Source, q reportQuery) (any, error) { return s.Summary(q.Filter), nil }},
		{"crawlers", pageFilters, func(s *report.Source, q reportQuery) (any, error) {
			return s.Crawlers(q.Filter, q.after, q.limit), nil
		}},
		{"crawlers/", filters, crawlerReport},
		{"violations", pageFilters, func(s *report.Source, q reportQuery) (any, error) {
			return s.Violations(q.Filter, q.after, q.limit), nil
		}},
		{"robots", filters, robotsReport},
		{"managed", filters, managedReport},
		{"shadow", filters, func(s *report.Source, q reportQuery) (any, error) { return s.Shadow(q.Filter), nil }},
		{"parity", filters, func(s *report.Source, q reportQuery) (any, error) { return s.ResponseAudit(q.Filter), nil }},
		{"impact", filters, func(s *report.Source, q reportQuery) (any, error) { return s.Impact(q.Filter), nil }},
	} {
		routes = append(routes, newRoute(reportPrefix+it.path, "GET", a.serveReport(it.view), it.parameters...))
	}
	return routes
}

// reportFunc returns a report from the recorded requests, or an error with the HTTP status.
type reportFunc func(*report.Source, reportQuery) (any, error)

// reportQuery has the filters and the page of a requested report.
type reportQuery struct {
	report.Filter
	after, limit int
	path         string // path is the request path after the prefix of the endpoint.
}

// serveReport returns a function that responds with a report.
func (a *API) serveReport(view reportFunc) func(http.ResponseWriter, *http.Request) (any, error) {
	return func(_ http.ResponseWriter, r *http.Request) (any, error) {
		q, err := parseReportQuery(r.URL.Query())
		if err != nil {
			return nil, err
		}
		q.path = strings.TrimPrefix(r.URL.Path, reportPrefix)
		return view(a.findRunning().Reports(time.Now()), q)
	}
}

func parseReportQuery(query url.Values) (q reportQuery, err error) {
	if q.Filter, err = report.ParseFilter(query); err != nil {
		return q, httpError(http.StatusBadRequest, "%w", err)
	}
	if q.limit, err = parseNumber(query, "limit", defaultPage, 1, maxPage); err != nil {
		return q, err
	}
	q.after, err = parseNumber(query, "after", 0, 0, 1<<30)
	return q, err
}

// crawlerReport returns the report about one crawler, or its evidence (recorded requests). The path
// has the id of the crawler.
func crawlerReport(s *report.Source, q reportQuery) (any, error) {
	id, evidence := strings.CutSuffix(strings.TrimPrefix(q.path, "crawlers/"), "/evidence")
	if evidence {
		if e, ok := s.Evidence(q.Filter, id); ok {
			return e, nil
		}
	} else if d, ok := s.Crawler(q.Filter, id); ok {
		return d, nil
	}
	return nil, httpError(http.StatusNotFound, "no request of %.80q is recorded in this window; GET %scrawlers lists all", id, reportPrefix)
}

// robotsReport returns the report about the robots.txt of the site in the filter.
func robotsReport(s *report.Source, q reportQuery) (any, error) {
	if q.Site == "" {
		return nil, httpError(http.StatusBadRequest, "the parameter site is missing; add ?site=<host>")
	}
	if r, ok := s.Robots(q.Filter); ok {
		return r, nil
	}
	return nil, httpError(http.StatusNotFound, "there is no data for the site %.80q; GET %ssummary lists all", q.Site, reportPrefix)
}

// managedReport returns the report about the robots_txt handlers, with details of the host in the
// filter.
func managedReport(s *report.Source, q reportQuery) (any, error) {
	if m, ok := s.ManagedRobots(q.Filter); ok {
		return m, nil
	}
	return nil, httpError(http.StatusNotFound, "no robots_txt is configured for the host %.80q; GET %smanaged lists all", q.Site, reportPrefix)
}
