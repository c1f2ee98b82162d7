package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// growthPlot holds the figures of the plot of growth. It has a panel for each quantity
// that grows.
type growthPlot struct {
	about  string // machine and date
	points []growthPoint
}

// growthPoint is the processor time of a request.
type growthPoint struct {
	panel  string
	x      int
	series string
	micros float64 // median in microseconds
	ratio  spread  // to stock Caddy in the same round
}

// add adds a point, rounded to the precision of tsv.
func (p *growthPlot) add(panel string, x int, series string, ns float64, ratio spread) {
	round := func(f float64) float64 { return math.Round(f*1000) / 1000 }
	p.points = append(p.points, growthPoint{panel, x, series, round(ns / 1000), spread{round(ratio.low), round(ratio.middle), round(ratio.high)}})
}

const (
	growthAbout = "# Processor time of a request, in µs and relative to stock Caddy in the same round. "
	growthHead  = "panel\tx\tseries\tµs\tratio\tfirst quartile\tthird quartile"
)

// tsv returns the figures as tab-separated values, below a comment with the machine.
func (p *growthPlot) tsv() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n%s\n", growthAbout, p.about, growthHead)
	for _, at := range p.points {
		fmt.Fprintf(&b, "%s\t%d\t%s\t%.3f\t%.3f\t%.3f\t%.3f\n", at.panel, at.x, at.series, at.micros, at.ratio.middle, at.ratio.low, at.ratio.high)
	}
	return b.String()
}

// parseGrowth parses the result of tsv.
func parseGrowth(text string) (*growthPlot, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	about, commented := strings.CutPrefix(lines[0], growthAbout)
	if !commented || len(lines) < 3 || lines[1] != growthHead {
		return nil, errors.New("this is no data of the plot of growth")
	}
	p := &growthPlot{about: about}
	for _, line := range lines[2:] {
		fields := strings.Split(line, "\t")
		if len(fields) != 7 {
			return nil, fmt.Errorf("%d fields in %q", len(fields), line)
		}
		x, err := strconv.Atoi(fields[1])
		errs := []error{err}
		var figures [4]float64
		for i := range figures {
			figures[i], err = strconv.ParseFloat(fields[3+i], 64)
			errs = append(errs, err)
		}
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
		p.points = append(p.points, growthPoint{fields[0], x, fields[2], figures[0], spread{figures[2], figures[1], figures[3]}})
	}
	return p, nil
}

// ratios compares the servers with many sites with those with one.
func (p *growthPlot) ratios() string {
	at := func(x int, series string) float64 {
		i := slices.IndexFunc(p.points, func(g growthPoint) bool { return g.panel == sitesPanel && g.x == x && g.series == series })
		if i < 0 {
			return math.NaN()
		}
		return p.points[i].ratio.middle
	}
	text := ""
	for _, x := range manySites {
		relative := func(series string) float64 {
			return at(x, series) / at(1, series)
		}
		if many := relative(guardSeries); !math.IsNaN(many) {
			text += fmt.Sprintf("%s sites to one site, relative to stock Caddy: browsers ×%.3f, crawlers ×%.3f, an empty handler ×%.3f.\n\n",
				thousands(x), relative(browserSeries), many, relative(emptySeries))
		}
	}
	return text
}

// svg draws the panels in two columns. The x axes are logarithmic, the y axes linear.
func (p *growthPlot) svg() string {
	const (
		width, height           = 960.0, 840.0
		panelWidth, panelHeight = 380.0, 250.0
		left, top, across, down = 70.0, 132.0, 480.0, 370.0
		legend                  = 82.0
	)
	d := newDrawing(width, height, "Processor time of a request, relative to stock Caddy",
		"Four charts with a logarithmic x axis: rules, sites, crawler names, instances. Each has lines for stock Caddy, an empty handler and the guard. Lines show medians, bars show quartiles.")
	d.text(20, 52, "quiet", "start", p.about)
	order := []string{stockSeries, emptySeries, guardSeries, browserSeries, wildcardSeries, unregisteredSeries}
	for i, name := range order { // the legend, in two rows
		x, y := 20+float64(i/2)*220, legend+20*float64(i%2)
		d.line(x, y-4, x+24, y-4, seriesClass(i)+" stroke")
		d.mark(x+12, y-4, i)
		d.text(x+32, y, "", "start", name)
	}
	for i, panel := range []string{rulesPanel, sitesPanel, namesPanel, instancesPanel} {
		box := panelBox{left + across*float64(i%2), top + down*float64(i/2), panelWidth, panelHeight}
		p.drawPanel(d, box, panel, order)
	}
	return d.end()
}

// panelBox is the place of a panel's axes.
type panelBox struct{ left, top, width, height float64 }

func (p *growthPlot) drawPanel(d *drawing, box panelBox, panel string, order []string) {
	low, high, most := math.Inf(1), 1.0, 1.0
	for _, at := range p.points {
		most = max(most, at.ratio.high) // of all panels, so that their y axes are equal
		if at.panel == panel {
			low, high = min(low, float64(at.x)), max(high, float64(at.x))
		}
	}
	low = min(low, high)
	right, bottom := box.left+box.width, box.top+box.height
	const step = 0.5
	x := scale{low, max(high, 2*low), box.left + 12, right - 12, true}
	y := scale{0, step * math.Ceil(most/step), bottom, box.top, false}
	for tick := 0.0; tick <= y.high; tick += step {
		d.line(box.left, y.at(tick), right, y.at(tick), "line")
		d.text(box.left-8, y.at(tick)+4, "quiet", "end", fmt.Sprintf("×%g", tick))
	}
	var ticks []int
	for _, at := range p.points {
		if at.panel == panel && !slices.Contains(ticks, at.x) {
			ticks = append(ticks, at.x)
		}
	}
	for _, tick := range ticks {
		d.line(x.at(float64(tick)), bottom, x.at(float64(tick)), bottom+5, "axis")
		d.text(x.at(float64(tick)), bottom+20, "quiet", "middle", thousands(tick))
	}
	d.line(box.left, bottom, right, bottom, "axis")
	d.text(box.left+box.width/2, bottom+42, "", "middle", panel+" (logarithmic)")
	d.upright(box.left-44, box.top+box.height/2, "", "ratio to stock Caddy")
	for i, name := range order {
		path := ""
		for _, at := range p.points {
			if at.panel != panel || at.series != name {
				continue
			}
			px := x.at(float64(at.x))
			path += fmt.Sprintf("%c%.1f %.1f", "ML"[min(len(path), 1)], px, y.at(at.ratio.middle))
			d.line(px, y.at(at.ratio.low), px, y.at(at.ratio.high), seriesClass(i)+" stroke")
			d.mark(px, y.at(at.ratio.middle), i)
		}
		if path != "" {
			fmt.Fprintf(d, "<path d=\"%s\" class=\"%s stroke\"/>\n", path, seriesClass(i))
		}
	}
}
