package main

import (
	"fmt"
	"math"
)

// linePlot shows lines in panels side by side, on common logarithmic axes.
type linePlot struct {
	title, desc string
	x, y        string // labels of the axes
	panels      []panel
}

type panel struct {
	name   string
	series []series
}

// series is a line. Series with the same name look the same in all panels.
type series struct {
	name   string
	points []point
}

type point struct{ x, y float64 } // y is a time in nanoseconds

// svg draws the plot. It omits points that a logarithmic axis cannot show.
func (p linePlot) svg() string {
	const (
		width, height            = 920.0, 440.0
		left, right, gap         = 84.0, 24.0, 28.0
		top, bottom, legendSpace = 96.0, 56.0, 54.0
	)
	lowX, highX, lowY, highY := math.Inf(1), 0.0, math.Inf(1), 0.0
	var names []string
	index := make(map[string]int)
	for i := range p.panels {
		for j := range p.panels[i].series {
			s := &p.panels[i].series[j]
			if _, known := index[s.name]; !known {
				index[s.name] = len(names)
				names = append(names, s.name)
			}
			var kept []point
			for _, at := range s.points {
				if drawable(at.x) && drawable(at.y) {
					kept = append(kept, at)
					lowX, highX, lowY, highY = min(lowX, at.x), max(highX, at.x), min(lowY, at.y), max(highY, at.y)
				}
			}
			s.points = kept
		}
	}
	if highX == 0 {
		lowX, highX, lowY, highY = 1, 10, 1, 10
	}
	d := newDrawing(width, height, p.title, p.desc)
	at := 20.0
	for i, name := range names {
		d.line(at, legendSpace-4, at+24, legendSpace-4, seriesClass(i)+" stroke")
		d.mark(at+12, legendSpace-4, i)
		d.text(at+30, legendSpace, "", "start", name)
		at += 30 + 8*float64(len([]rune(name))) + 16
	}
	ticksX, ticksY := decades(lowX, highX), decades(lowY, highY)
	wide := (width - left - right - gap*float64(len(p.panels)-1)) / float64(max(1, len(p.panels)))
	y := scale{ticksY[0], ticksY[len(ticksY)-1], height - bottom, top, true}
	for i, panel := range p.panels {
		from := left + float64(i)*(wide+gap)
		x := scale{ticksX[0], max(highX*1.2, ticksX[1]), from, from + wide, true}
		d.text(from+wide/2, top-12, "", "middle", panel.name)
		for _, tick := range ticksY {
			d.line(from, y.at(tick), from+wide, y.at(tick), "line")
			if i == 0 {
				d.text(from-8, y.at(tick)+4, "quiet", "end", shortDuration(tick))
			}
		}
		for _, tick := range ticksX {
			if tick > x.high {
				continue
			}
			d.line(x.at(tick), top, x.at(tick), height-bottom, "line")
			d.text(x.at(tick), height-bottom+18, "quiet", "middle", thousands(int(tick)))
		}
		d.line(from, height-bottom, from+wide, height-bottom, "axis")
		d.text(from+wide/2, height-14, "", "middle", p.x+" (logarithmic)")
		for _, s := range panel.series {
			path := ""
			for j, at := range s.points {
				path += fmt.Sprintf("%c%.1f %.1f", "ML"[min(j, 1)], x.at(at.x), y.at(at.y))
			}
			fmt.Fprintf(d, "<path d=\"%s\" class=\"%s stroke\"/>\n", path, seriesClass(index[s.name]))
			for _, at := range s.points {
				d.mark(x.at(at.x), y.at(at.y), index[s.name])
			}
		}
	}
	d.upright(20, (top+height-bottom)/2, "", p.y+" (logarithmic)")
	return d.end()
}

// shortDuration renders a power of ten of nanoseconds.
func shortDuration(ns float64) string {
	units := []string{"ns", "µs", "ms", "s"}
	i := 0
	for ; ns >= 999.5 && i < len(units)-1; i++ {
		ns /= 1000
	}
	return fmt.Sprintf("%g %s", ns, units[i])
}

// dotPlot shows ratios with their intervals, one row each.
type dotPlot struct {
	title, desc string
	x           string
	rows        []dotRow
}

type dotRow struct {
	name  string
	group int // rows of one group look the same
	ratio estimate
}

// svg draws the plot. The line at 1 is the reference.
func (p dotPlot) svg() string {
	const (
		width             = 960.0
		left, right, each = 360.0, 180.0, 27.0 // the longest name has fifty letters
		most              = 1.5                // larger values are drawn at the edge
		top, bottom       = 60.0, 56.0
	)
	low, high := 0.9, 1.1
	for _, row := range p.rows {
		if drawable(row.ratio.middle) {
			low, high = min(low, row.ratio.low), max(high, row.ratio.high)
		}
	}
	low, high = max(0, math.Floor(low*10)/10), min(most, math.Ceil(high*10)/10)
	height := top + each*float64(len(p.rows)) + bottom
	d := newDrawing(width, height, p.title, p.desc)
	x := scale{low, high, left, width - right, false}
	for tick := low; tick <= high+0.001; tick += 0.1 {
		class := "line"
		if math.Abs(tick-1) < 0.001 {
			class = "axis"
		}
		d.line(x.at(tick), top-8, x.at(tick), height-bottom, class)
		d.text(x.at(tick), height-bottom+18, "quiet", "middle", fmt.Sprintf("%.1f", tick))
	}
	for i, row := range p.rows {
		y := top + each*(float64(i)+0.5)
		d.text(left-14, y+4, "", "end", row.name)
		if !drawable(row.ratio.middle) {
			d.text(left+8, y+4, "quiet", "start", "not measured")
			continue
		}
		class := seriesClass(row.group) + " stroke"
		place := func(ratio float64) float64 { return x.at(max(low, min(high, ratio))) }
		from, to := place(row.ratio.low), place(row.ratio.high)
		d.line(from, y, to, y, class)
		d.line(from, y-5, from, y+5, class)
		d.line(to, y-5, to, y+5, class)
		d.mark(place(row.ratio.middle), y, row.group)
		d.text(width-right+12, y+4, "quiet", "start", fmt.Sprintf("%.3f (%.3f to %.3f)", row.ratio.middle, row.ratio.low, row.ratio.high))
	}
	d.text((left+width-right)/2, height-14, "", "middle", p.x)
	return d.end()
}

// requestsPlot draws the requests per second relative to stock Caddy.
func requestsPlot(duels []duel) string {
	p := dotPlot{
		title: "Requests a second beside stock Caddy's",
		desc:  "A dot for each server and kind of traffic: the median ratio of requests a second to those of stock Caddy in the same minute, with the interval in which it lies with 95 % probability. Higher is better.",
		x:     "ratio of requests a second to stock Caddy (1 = as many), with 95 % interval",
	}
	for _, d := range duels {
		if d.subject == limitSubject { // the ratio is not to stock Caddy
			continue
		}
		group := 0
		switch d.subject {
		case noiseSubject, emptySubject, emptyProxy, ofSites(emptySubject, fewerSites), ofSites(emptySubject, mostSites):
			group = 1
		case regexpSubject, nginxSubject:
			group = 2
		}
		p.rows = append(p.rows, dotRow{d.subject + " – " + d.traffic, group, d.requests})
	}
	return p.svg()
}
