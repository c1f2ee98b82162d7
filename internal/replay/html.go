package replay

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

//go:embed report.html
var reportHTML string

var reportPage = template.Must(template.New("report").Funcs(template.FuncMap{
	"time":   timeText,
	"clean":  text.Printable,
	"number": grouped[uint64],
	"share": func(part, whole uint64) string { // of a bar, in percent
		if whole == 0 {
			return "0"
		}
		return fmt.Sprintf("%.1f", 100*float64(part)/float64(whole))
	},
	"count": grouped[int],
}).Parse(reportHTML))

// WriteHTML writes the report as a page that needs nothing else: no script, no
// file, no network.
func (r *Report) WriteHTML(w io.Writer) error {
	page := struct {
		*Report
		Top     uint64 // the most requests of a crawler
		Bars    []bar
		LastDay string
		TopDay  uint64 // the most requests of a day
		Period  string
	}{Report: r, Top: r.most(), Period: r.period()}
	page.Bars, page.TopDay = r.bars()
	if len(page.Bars) > 0 {
		page.LastDay = page.Bars[len(page.Bars)-1].Date
	}
	return reportPage.Execute(w, page)
}

func (r *Report) most() (most uint64) {
	for _, c := range r.Crawlers {
		most = max(most, c.Requests)
	}
	return most
}

func (r *Report) period() string {
	if r.First == nil {
		return ""
	}
	first, last := r.First.Format("2 January 2006"), r.Last.Format("2 January 2006")
	if first == last {
		return first
	}
	return first + " to " + last
}

// bar is a day in the chart, in units of its picture.
type bar struct {
	X, Width, Y, Height, BlockedY, BlockedHeight float64
	Date, Title                                  string
}

// Size of the chart, and how many days it shows at most: the last ones.
const (
	chartWidth  = 960
	chartHeight = 120
	chartDays   = 120
)

// bars returns the chart, nil if there is nothing to show, and the most requests
// of a day.
func (r *Report) bars() (bars []bar, most uint64) {
	days := r.Days[max(0, len(r.Days)-chartDays):]
	if len(days) < 2 {
		return nil, 0
	}
	first, err := time.Parse(time.DateOnly, days[0].Date)
	if err != nil {
		return nil, 0
	}
	for _, d := range days {
		most = max(most, d.Requests)
	}
	last, _ := time.Parse(time.DateOnly, days[len(days)-1].Date)
	count := last.Sub(first).Hours()/24 + 1
	if count > 4*chartDays { // days far apart: no axis of time would show them
		return nil, 0
	}
	step := chartWidth / count
	for _, d := range days {
		date, _ := time.Parse(time.DateOnly, d.Date)
		height := chartHeight * float64(d.Requests) / float64(most)
		blocked := chartHeight * float64(d.Disallowed) / float64(most)
		bars = append(bars, bar{
			X: date.Sub(first).Hours() / 24 * step, Width: max(step*0.85, 0.5), Y: chartHeight - height, Height: height,
			BlockedY: chartHeight - blocked, BlockedHeight: blocked,
			Date:  d.Date,
			Title: fmt.Sprintf("%s: %s requests, %s against the rules", d.Date, grouped(d.Requests), grouped(d.Disallowed)),
		})
	}
	return bars, most
}

// grouped writes a number with its thousands apart.
func grouped[T int | uint64](n T) string {
	s := fmt.Sprint(n)
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}
