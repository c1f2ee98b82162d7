package main

import (
	"encoding/xml"
	"fmt"
	"math"
	"strings"
)

// drawing builds an SVG. Its colours follow the colour scheme of the reader's system.
// It has its own background, so that it is readable on any page.
type drawing struct {
	strings.Builder
	width, height float64
}

// style defines the colours. Series use s0 to s5, a palette for readers with colour
// blindness (after Okabe and Ito).
const style = `
svg{--back:#fff;--text:#1f2328;--quiet:#59636e;--line:#d8dee4;--s0:#0060a8;--s1:#b84300;--s2:#00795a;--s3:#9a3f77;--s4:#6b5900;--s5:#333}
@media(prefers-color-scheme:dark){svg{--back:#0d1117;--text:#e6edf3;--quiet:#9198a1;--line:#30363d;--s0:#58b4f0;--s1:#f2994a;--s2:#3fcf9f;--s3:#e8a0c8;--s4:#e3cf57;--s5:#ccc}}
text{font:12px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:var(--text)}
.back{fill:var(--back)}.title{font-size:16px;font-weight:600}.quiet{fill:var(--quiet)}.line{stroke:var(--line);fill:none}.axis{stroke:var(--quiet);fill:none}
.s0{--c:var(--s0)}.s1{--c:var(--s1)}.s2{--c:var(--s2)}.s3{--c:var(--s3)}.s4{--c:var(--s4)}.s5{--c:var(--s5)}
.stroke{stroke:var(--c);fill:none;stroke-width:2}.fill{fill:var(--c)}
`

// newDrawing begins an SVG. Screen readers read title and desc.
func newDrawing(width, height float64, title, desc string) *drawing {
	d := &drawing{width: width, height: height}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" aria-labelledby="title desc">`, width, height, width, height)
	fmt.Fprintf(d, "\n<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n<style>%s</style>\n", escaped(title), escaped(desc), style)
	fmt.Fprintf(d, "<rect class=\"back\" width=\"%g\" height=\"%g\"/>\n", width, height)
	d.text(20, 28, "title", "start", title)
	return d
}

func (d *drawing) end() string { return d.String() + "</svg>\n" }

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}

func (d *drawing) text(x, y float64, class, anchor, s string) {
	fmt.Fprintf(d, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">%s</text>\n", x, y, class, anchor, escaped(s))
}

// upright writes text that runs from bottom to top.
func (d *drawing) upright(x, y float64, class, s string) {
	fmt.Fprintf(d, "<text transform=\"translate(%.1f %.1f) rotate(-90)\" class=\"%s\" text-anchor=\"middle\">%s</text>\n", x, y, class, escaped(s))
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(d, "<path d=\"M%.1f %.1fL%.1f %.1f\" class=\"%s\"/>\n", x1, y1, x2, y2, class)
}

// mark draws the marker of a series. Its shape distinguishes the series without colour.
func (d *drawing) mark(x, y float64, series int) {
	const r = 4.5
	class := seriesClass(series) + " fill"
	switch series % 4 {
	case 0:
		fmt.Fprintf(d, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" class=\"%s\"/>\n", x, y, r, class)
	case 1:
		fmt.Fprintf(d, "<rect x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"8\" class=\"%s\"/>\n", x-4, y-4, class)
	case 2:
		fmt.Fprintf(d, "<path d=\"M%.1f %.1fl%g %gh-%gz\" class=\"%s\"/>\n", x, y-r-0.5, r+0.5, 2*r, 2*r+1, class)
	case 3:
		fmt.Fprintf(d, "<path d=\"M%.1f %.1fl%g %gl-%g %gl-%g -%gz\" class=\"%s\"/>\n", x, y-r-1, r+1, r+1, r+1, r+1, r+1, r+1, class)
	}
}

func seriesClass(i int) string { return fmt.Sprintf("s%d", i%6) }

// scale maps values to positions on an axis.
type scale struct {
	low, high float64 // values
	from, to  float64 // positions
	log       bool
}

func (s scale) at(value float64) float64 {
	low, high := s.low, s.high
	if s.log {
		value, low, high = math.Log10(value), math.Log10(low), math.Log10(high)
	}
	return s.from + (value-low)/(high-low)*(s.to-s.from)
}
