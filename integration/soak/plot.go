package main

import (
	"fmt"
	"strings"
	"time"
)

// plot draws the samples of some instances, a panel for each series and a line for
// each instance, over the minutes. It is readable on light and on dark pages.
func plot(instances [][]sample) string {
	const width, height, left, top, gap = 720.0, 110.0, 60.0, 28.0, 40.0
	var b strings.Builder
	total := top + float64(len(watched))*(height+gap)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" role="img" aria-labelledby="title">
<title id="title">Goroutines, open files and heap of two instances during the soak</title>
<style>
text { font: 13px sans-serif; fill: #24292f }
path { fill: none; stroke: #0969da; stroke-width: 1.5 }
path.b { stroke: #bc4c00 }
line { stroke: #8c959f }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } path { stroke: #58a6ff } path.b { stroke: #ffa657 } line { stroke: #6e7681 } }
</style>
`, left+width+30, total)
	end := time.Minute
	for _, all := range instances {
		if len(all) > 0 {
			end = all[len(all)-1].at
		}
	}
	for i, s := range watched {
		y0 := top + float64(i)*(height+gap)
		most := 1.0
		for _, all := range instances {
			for _, one := range all {
				most = max(most, s.of(one)*1.15)
			}
		}
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f">%s</text>
<text x="%.0f" y="%.0f" text-anchor="end">%.0f%s</text>
<text x="%.0f" y="%.0f" text-anchor="end">0</text>
<line x1="%.0f" y1="%.0f" x2="%.0f" y2="%.0f"/>
`, left, y0-6, s.name, left-6, y0+10, most*s.scale, s.unit, left-6, y0+height, left, y0+height, left+width, y0+height)
		for i, all := range instances {
			fmt.Fprintf(&b, `<path class="%c" d="`, 'a'+i)
			for n, one := range all {
				letter := "L"
				if n == 0 {
					letter = "M"
				}
				fmt.Fprintf(&b, "%s%.1f %.1f", letter, left+width*float64(one.at)/float64(end), y0+height*(1-s.of(one)/most))
			}
			b.WriteString("\"/>\n")
		}
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f">0 min</text><text x="%.0f" y="%.0f" text-anchor="end">%.1f min</text>
`, left, y0+height+16, left+width, y0+height+16, end.Minutes())
	}
	b.WriteString("</svg>\n")
	return b.String()
}
