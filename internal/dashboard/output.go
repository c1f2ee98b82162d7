package dashboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// output is a data file.
type output struct {
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
var outputs = map[string]output{
	"summary.json":    {typeJSON, "", asJSON(summary)},
	"crawlers.json":   {typeJSON, "", asJSON(crawlers)},
	"crawler.json":    {typeJSON, "", asJSON(crawler)},
	"violations.json": {typeJSON, "", asJSON(violations)},
	"robots.json":     {typeJSON, "", asJSON(robots)},
	"impact.json":     {typeJSON, "", asJSON(impact)},
	"parity.json":     {typeJSON, "", asJSON(audit)},
	"shadow.json":     {typeJSON, "", asJSON(shadow)},
	"managed.json":    {typeJSON, "", asJSON(managed)},
	"evidence.json":   {typeJSON, "evidence-%s.json", asJSON(evidence)},
	"evidence.txt":    {typeText, "evidence-%s.txt", evidenceText},

	"summary.csv":    {typeCSV, "requests.csv", asCSV(summary, summaryRows)},
	"crawlers.csv":   {typeCSV, "crawlers.csv", asCSV(crawlers, crawlerRows)},
	"crawler.csv":    {typeCSV, "crawler-%s.csv", asCSV(crawler, pathRows)},
	"violations.csv": {typeCSV, "violations.csv", asCSV(violations, violationRows)},
	"robots.csv":     {typeCSV, "robots.csv", asCSV(robots, lineRows)},
	"impact.csv":     {typeCSV, "impact.csv", asCSV(impact, impactRows)},
	"parity.csv":     {typeCSV, "answers.csv", asCSV(audit, auditRows)},
	"shadow.csv":     {typeCSV, "shadow.csv", asCSV(shadow, shadowRows)},
}

// errUnknown is the error for an unknown crawler or site.
var errUnknown = errors.New("not known")

func summary(v Views, q query) (*report.Summary, *report.Head, error) {
	s := v.Summary(q.filter)
	return &s, &s.Head, nil
}

func crawlers(v Views, q query) (*report.Crawlers, *report.Head, error) {
	c := v.Crawlers(q.filter, q.after, q.limit)
	return &c, &c.Head, nil
}

func crawler(v Views, q query) (*report.CrawlerDetail, *report.Head, error) {
	c, ok := v.Crawler(q.filter, q.id)
	if !ok {
		return nil, nil, fmt.Errorf("a crawler with the id %.80q is %w in this window", q.id, errUnknown)
	}
	return &c, &c.Head, nil
}

func violations(v Views, q query) (*report.Violations, *report.Head, error) {
	l := v.Violations(q.filter, q.after, q.limit)
	return &l, &l.Head, nil
}

func robots(v Views, q query) (*report.Robots, *report.Head, error) {
	r, ok := v.Robots(q.filter)
	if !ok {
		return nil, nil, fmt.Errorf("a robots.txt of the site %.80q is %w", q.filter.Site, errUnknown)
	}
	return &r, &r.Head, nil
}

func managed(v Views, q query) (*report.Managed, *report.Head, error) {
	m, _ := v.ManagedTexts(q.filter) // many sites have none
	return &m, &m.Head, nil
}

func impact(v Views, q query) (*report.Impact, *report.Head, error) {
	i := v.Impact(q.filter)
	return &i, &i.Head, nil
}

func audit(v Views, q query) (*report.ResponseAudit, *report.Head, error) {
	p := v.Parity(q.filter)
	return &p, &p.Head, nil
}

func shadow(v Views, q query) (*report.Shadow, *report.Head, error) {
	s := v.Shadow(q.filter)
	return &s, &s.Head, nil
}

func evidence(v Views, q query) (*report.Evidence, *report.Head, error) {
	e, ok := v.Evidence(q.filter, q.id)
	if !ok {
		return nil, nil, fmt.Errorf("a crawler with the id %.80q is %w in this window", q.id, errUnknown)
	}
	return &e, &e.Head, nil
}

// asJSON renders a view as JSON. The entity tag does not depend on the time.
func asJSON[T any](view func(Views, query) (*T, *report.Head, error)) func(Views, query) ([]byte, string, error) {
	return func(v Views, q query) ([]byte, string, error) {
		value, head, err := view(v, q)
		if err != nil {
			return nil, "", err
		}
		generated := head.Generated
		head.Generated = time.Time{}
		etag := entityTag(encode(value))
		head.Generated = generated
		return encode(value), etag, nil
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
	e, _, err := evidence(v, q)
	if err != nil {
		return nil, "", err
	}
	var body bytes.Buffer
	if err := e.WriteText(&body); err != nil {
		return nil, "", err
	}
	return body.Bytes(), entityTag(body.Bytes()), nil
}

// file returns the name of a download. A crawler's name can come from a robots.txt, so unsafe
// characters are replaced.
func (o output) file(q query) string {
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
