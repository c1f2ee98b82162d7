package main

import "fmt"

// The two kinds of files in growthContest, as in the names of the rows.
const (
	withWildcards = "40 % wildcards"
	plainOnly     = "plain"
)

// growthContest measures verdicts with files of both kinds and an increasing number of
// rules.
func growthContest(g *google) contest {
	c := contest{name: "Verdict"}
	for _, kind := range []struct {
		name  string
		rules []int
		file  func(int) string
	}{
		{withWildcards, []int{10, 100, 1000, 10000, 18000}, func(n int) string { return rulesFile(n, 40) }},
		{plainOnly, []int{10, 100, 1000, 10000, catalogueRules}, catalogueFile},
	} {
		for _, n := range kind.rules {
			c.rows = append(c.rows, contestRow{name: growthRow(n, kind.name), rules: n, cells: verdictCells(g, kind.file(n), ordinary)})
		}
	}
	return c
}

func growthRow(n int, kind string) string { return fmt.Sprintf("%s rules, %s", thousands(n), kind) }

// growthPlot draws the time per verdict by the number of rules.
func growthPlot(c contest, results [][]result) string {
	p := linePlot{
		title: "How long a verdict takes by the number of rules",
		desc:  "Two charts with logarithmic axes: files with 40 % wildcards and files of plain rules. Each has a line for each library.",
		x:     "rules of the file", y: "processor time of a verdict",
	}
	for _, kind := range []string{withWildcards, plainOnly} {
		panel := panel{name: map[string]string{withWildcards: "40 % of the rules have wildcards", plainOnly: "plain rules"}[kind]}
		for at, cell := range c.rows[0].cells {
			s := series{name: cell.who}
			for i, row := range c.rows {
				if ns := results[i][at].ns.middle; row.name == growthRow(row.rules, kind) && ns > 0 {
					s.points = append(s.points, point{float64(row.rules), ns})
				}
			}
			if len(s.points) > 0 {
				panel.series = append(panel.series, s)
			}
		}
		p.panels = append(p.panels, panel)
	}
	return p.svg()
}
