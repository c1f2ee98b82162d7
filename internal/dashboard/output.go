package dashboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// dataFile is a file with the data of a view, as JSON, CSV or text.
type dataFile struct {
	contentType string
	filename    string // filename is for downloads. %s stands for the crawler.
	render      func(Views, query) (body []byte, err error)
}

const (
	typeJSON = "application/json"
	typeCSV  = "text/csv; charset=utf-8"
	typeText = "text/plain; charset=utf-8"
)

// outputs are all data files by name.
var outputs = map[string]dataFile{
	"summary.json":    {typeJSON, "", renderJSON(summary)},
	"crawlers.json":   {typeJSON, "", renderJSON(crawlers)},
	"crawler.json":    {typeJSON, "", renderJSON(crawler)},
	"violations.json": {typeJSON, "", renderJSON(violations)},
	"robots.json":     {typeJSON, "", renderJSON(getRobots)},
	"impact.json":     {typeJSON, "", renderJSON(impact)},
	"parity.json":     {typeJSON, "", renderJSON(audit)},
	"shadow.json":     {typeJSON, "", renderJSON(shadow)},
	"managed.json":    {typeJSON, "", renderJSON(getManagedRobots)},
	"evidence.json":   {typeJSON, "evidence-%s.json", renderJSON(evidence)},
	"evidence.txt":    {typeText, "evidence-%s.txt", renderEvidenceText},

	"summary.csv":    {typeCSV, "requests.csv", renderCSV(summary, summaryRows)},
	"crawlers.csv":   {typeCSV, "crawlers.csv", renderCSV(crawlers, crawlerRows)},
	"crawler.csv":    {typeCSV, "crawler-%s.csv", renderCSV(crawler, pathRows)},
	"violations.csv": {typeCSV, "violations.csv", renderCSV(violations, violationRows)},
	"robots.csv":     {typeCSV, "robots.csv", renderCSV(getRobots, lineRows)},
	"impact.csv":     {typeCSV, "impact.csv", renderCSV(impact, impactRows)},
	"parity.csv":     {typeCSV, "answers.csv", renderCSV(audit, auditRows)},
	"shadow.csv":     {typeCSV, "shadow.csv", renderCSV(shadow, shadowRows)},
}

// These are the views. See [Views].
var (
	summary    = newFilteredView(Views.Summary)
	impact     = newFilteredView(Views.Impact)
	audit      = newFilteredView(Views.ResponseAudit)
	shadow     = newFilteredView(Views.Shadow)
	crawlers   = newListView(Views.Crawlers)
	violations = newListView(Views.Violations)
	crawler    = newCrawlerView(Views.Crawler)
	evidence   = newCrawlerView(Views.Evidence)
)

// viewFunc returns the data of a view for a query. The error wraps errUnknown if the crawler or
// site is unknown.
type viewFunc[T any] func(Views, query) (*T, error)

// errUnknown is the error for an unknown crawler or site.
var errUnknown = errors.New("not known")

func newFilteredView[T any](get func(Views, report.Filter) T) viewFunc[T] {
	return func(v Views, q query) (*T, error) { return new(get(v, q.filter)), nil }
}

func newListView[T any](get func(v Views, f report.Filter, after, limit int) T) viewFunc[T] {
	return func(v Views, q query) (*T, error) { return new(get(v, q.filter, q.after, q.limit)), nil }
}

func newCrawlerView[T any](get func(v Views, f report.Filter, id string) (T, bool)) viewFunc[T] {
	return func(v Views, q query) (*T, error) {
		if c, ok := get(v, q.filter, q.id); ok {
			return &c, nil
		}
		return nil, fmt.Errorf("a crawler with the id %.80q is %w in this window", q.id, errUnknown)
	}
}

func getRobots(v Views, q query) (*report.Robots, error) {
	if r, ok := v.Robots(q.filter); ok {
		return &r, nil
	}
	return nil, fmt.Errorf("a robots.txt of the site %.80q is %w", q.filter.Site, errUnknown)
}

func getManagedRobots(v Views, q query) (*report.ManagedRobots, error) {
	m, _ := v.ManagedRobots(q.filter) // Without robots_txt handlers the result is empty.
	return &m, nil
}

// renderJSON returns a function that renders a view as JSON.
func renderJSON[T any](get viewFunc[T]) func(Views, query) ([]byte, error) {
	return func(v Views, q query) ([]byte, error) {
		value, err := get(v, q)
		if err != nil {
			return nil, err
		}
		return encodeJSON(value), nil
	}
}

// encodeJSON returns value as indented JSON.
func encodeJSON(value any) []byte {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(value); err != nil {
		panic(err) // Values of these types can always be encoded.
	}
	return body.Bytes()
}

func renderEvidenceText(v Views, q query) ([]byte, error) {
	e, err := evidence(v, q)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	err = e.WriteText(&body)
	return body.Bytes(), err
}

// downloadName returns the file name for a download. It replaces unsafe characters, because a
// crawler's name can come from a robots.txt.
func (o dataFile) downloadName(q query) string {
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
