package dashboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// viewOutput is a data file.
type viewOutput struct {
	contentType string
	filename    string // for downloads; %s stands for the crawler
	render      func(Views, query) (body []byte, etag string, err error)
}

const (
	typeJSON = "application/json"
	typeCSV  = "text/csv; charset=utf-8"
	typeText = "text/plain; charset=utf-8"
)

// outputs are all data files by name.
var outputs = map[string]viewOutput{
	"summary.json":    {typeJSON, "", renderJSON(summary)},
	"crawlers.json":   {typeJSON, "", renderJSON(crawlers)},
	"crawler.json":    {typeJSON, "", renderJSON(crawler)},
	"violations.json": {typeJSON, "", renderJSON(violations)},
	"robots.json":     {typeJSON, "", renderJSON(robotsView)},
	"impact.json":     {typeJSON, "", renderJSON(impact)},
	"parity.json":     {typeJSON, "", renderJSON(audit)},
	"shadow.json":     {typeJSON, "", renderJSON(shadow)},
	"managed.json":    {typeJSON, "", renderJSON(managedView)},
	"evidence.json":   {typeJSON, "evidence-%s.json", renderJSON(evidence)},
	"evidence.txt":    {typeText, "evidence-%s.txt", evidenceText},

	"summary.csv":    {typeCSV, "requests.csv", renderCSV(summary, summaryRows)},
	"crawlers.csv":   {typeCSV, "crawlers.csv", renderCSV(crawlers, crawlerRows)},
	"crawler.csv":    {typeCSV, "crawler-%s.csv", renderCSV(crawler, pathRows)},
	"violations.csv": {typeCSV, "violations.csv", renderCSV(violations, violationRows)},
	"robots.csv":     {typeCSV, "robots.csv", renderCSV(robotsView, lineRows)},
	"impact.csv":     {typeCSV, "impact.csv", renderCSV(impact, impactRows)},
	"parity.csv":     {typeCSV, "answers.csv", renderCSV(audit, auditRows)},
	"shadow.csv":     {typeCSV, "shadow.csv", renderCSV(shadow, shadowRows)},
}

// The views. See [Views].
var (
	summary    = filteredView(Views.Summary)
	impact     = filteredView(Views.Impact)
	audit      = filteredView(Views.ResponseAudit)
	shadow     = filteredView(Views.Shadow)
	crawlers   = listView(Views.Crawlers)
	violations = listView(Views.Violations)
	crawler    = crawlerView(Views.Crawler)
	evidence   = crawlerView(Views.Evidence)
)

// view returns the data for a query, or an error that wraps errUnknown.
type view[T any] func(Views, query) (*T, error)

// errUnknown is the error for an unknown crawler or site.
var errUnknown = errors.New("not known")

func filteredView[T any](get func(Views, report.Filter) T) view[T] {
	return func(v Views, q query) (*T, error) { return new(get(v, q.filter)), nil }
}

func listView[T any](get func(v Views, f report.Filter, after, limit int) T) view[T] {
	return func(v Views, q query) (*T, error) { return new(get(v, q.filter, q.after, q.limit)), nil }
}

func crawlerView[T any](get func(v Views, f report.Filter, id string) (T, bool)) view[T] {
	return func(v Views, q query) (*T, error) {
		if c, ok := get(v, q.filter, q.id); ok {
			return &c, nil
		}
		return nil, fmt.Errorf("a crawler with the id %.80q is %w in this window", q.id, errUnknown)
	}
}

func robotsView(v Views, q query) (*report.Robots, error) {
	if r, ok := v.Robots(q.filter); ok {
		return &r, nil
	}
	return nil, fmt.Errorf("a robots.txt of the site %.80q is %w", q.filter.Site, errUnknown)
}

func managedView(v Views, q query) (*report.Managed, error) {
	m, _ := v.ManagedTexts(q.filter) // many sites have none
	return &m, nil
}

// renderJSON renders a view as JSON. The entity tag does not depend on the time.
func renderJSON[T any](get view[T]) func(Views, query) ([]byte, string, error) {
	return func(v Views, q query) ([]byte, string, error) {
		value, err := get(v, q)
		if err != nil {
			return nil, "", err
		}
		body := encode(value)
		any(value).(interface{ ClearGenerated() }).ClearGenerated()
		return body, entityTag(encode(value)), nil
	}
}

// encode returns value as indented JSON.
func encode(value any) []byte {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(value); err != nil {
		panic(err) // all values can be encoded
	}
	return body.Bytes()
}

func evidenceText(v Views, q query) ([]byte, string, error) {
	e, err := evidence(v, q)
	if err != nil {
		return nil, "", err
	}
	var body bytes.Buffer
	if err := e.WriteText(&body); err != nil {
		return nil, "", err
	}
	return body.Bytes(), entityTag(body.Bytes()), nil
}

// fileName returns the name of a download. A crawler's name can come from a robots.txt, so unsafe
// characters are replaced.
func (o viewOutput) fileName(q query) string {
	if !strings.Contains(o.filename, "%s") {
		return o.filename
	}
	safe := func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			return c
		}
		return '-'
	}
	name := strings.Map(safe, q.id)
	return fmt.Sprintf(o.filename, name[:min(len(name), 64)])
}
