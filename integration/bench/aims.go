package main

import (
	"fmt"
	"math"
	"strings"
)

// aim is a performance goal with the measured value and the outcome.
type aim struct{ goal, measured, outcome string }

// atMost returns an aim for a figure that must not exceed limit.
func atMost(goal string, figure, limit float64, measured string) aim {
	a := aim{goal, measured, "met"}
	switch {
	case figure <= limit:
	case limit > 0:
		a.outcome = fmt.Sprintf("**missed**: ×%.2f the limit", figure/limit)
	default:
		a.outcome = "**missed**"
	}
	return a
}

// shown returns an aim for a ratio that must be at least least. The outcome is met or
// missed if the whole interval lies on one side of least, and open otherwise.
func shown(goal string, e estimate, least float64) aim {
	a := aim{goal: goal, measured: e.String()}
	switch {
	case e == (estimate{}):
		return aim{goal, "not measured", "open"}
	case e.few:
		a.outcome = "open: too few rounds"
	case e.low >= least:
		a.outcome = "met"
	case e.high < least:
		a.outcome = fmt.Sprintf("**missed** by %.1f %%", (least-e.middle)*100)
	default:
		a.outcome = fmt.Sprintf("open: the interval holds %.3g", least)
	}
	return a
}

func parseAims(c contest, results [][]result) []aim {
	const large = "500 KiB, 40 % wildcards"
	ours := c.at(results, large, "ours")
	aims := []aim{atMost("500 KiB parsed in at most 4.4 ms, as Google's C++ on a 2.5 GHz core", ours.ns.middle, 4.4e6, duration(ours.ns.middle))}
	if last := c.rows[0].cells[len(c.rows[0].cells)-1]; last.timed != nil {
		for _, row := range c.rows {
			if peer := c.at(results, row.name, last.who); peer.ns.middle > 0 {
				aims = append(aims, atMost(row.name+": no slower than Google's C++ in the same run, which scans and keeps nothing",
					1/peer.ratio.middle, 1, fmt.Sprintf("ours takes ×%.2f", 1/peer.ratio.middle)))
			}
		}
	}
	first := c.at(results, large, compiledCell).ns.middle
	aims = append(aims, atMost("500 KiB, 40 % wildcards: parsed and compiled for a first verdict in at most 10 ms", first, 10e6, duration(first)))
	fewest := math.Inf(1)
	for _, file := range []struct {
		name  string
		rules int
	}{{"10,000 rules, 40 % wildcards", 10000}, {"31,843 plain rules", catalogueRules}} {
		fewest = min(fewest, float64(file.rules)/float64(c.at(results, file.name, compiledCell).allocs))
	}
	return append(aims, atMost("at most one allocation for 20 rules", 20, fewest, fmt.Sprintf("one for %.0f, compiling included", fewest)))
}

func verdictAims(c contest, results [][]result) []aim {
	at := func(row string) float64 { return c.at(results, row, "ours").ns.middle }
	small, large := at("small file"), at("10,000 rules")
	aims := []aim{
		atMost("small file: at most 150 ns", small, 150, duration(small)),
		atMost("10,000 rules with 40 % wildcards: at most 1.5 µs", large, 1500, duration(large)),
	}
	var allocs int64
	for i, row := range c.rows {
		allocs = max(allocs, results[i][0].allocs)
		if strings.HasPrefix(row.name, "8,000") {
			ns := results[i][0].ns.middle
			aims = append(aims, atMost(row.name+", 10,000 rules: at most 50 µs", ns, 50e3, duration(ns)))
			if row.name != plainRow {
				aims = append(aims, atMost(row.name+" at most 1.5 times "+plainRow+", with the hash that this process drew", ns, 1.5*at(plainRow), times(ns/at(plainRow))))
			}
		}
	}
	return append(aims, atMost("no allocation", float64(allocs), 0, count(allocs)))
}

func growthAims(c contest, results [][]result) []aim {
	at := func(n int) float64 { return c.at(results, growthRow(n, withWildcards), "ours").ns.middle }
	growth := at(10000) / at(100)
	return []aim{atMost("from 100 to 10,000 rules at most ×3", growth, 3, times(growth))}
}

func identifyAims(c contest, results [][]result) []aim {
	var allocs int64
	speed := make([]float64, len(c.rows))
	for i, row := range c.rows {
		allocs = max(allocs, results[i][0].allocs)
		speed[i] = float64(row.bytes) / results[i][0].ns.middle
	}
	slower := speed[0] / speed[1]
	hashing := 1 / c.at(results, c.rows[1].name, "floor: FNV").ratio.middle
	return []aim{
		atMost("all different User-Agents: at most twice a pass that only hashes", hashing, 2, times(hashing)),
		atMost("no allocation", float64(allocs), 0, count(allocs)),
		atMost("all different User-Agents no slower than forty that return (within 5 %)", slower, 1.05, fmt.Sprintf("×%.2f the time a byte", slower)),
	}
}

func chainAims(c contest, results [][]result) []aim {
	const row = "browsers, all different"
	empty, guarded := c.at(results, row, emptyCell), c.at(results, row, guardCell)
	more := guarded.allocs - empty.allocs
	aims := []aim{atMost("no allocation of ours for a browser's request", float64(more), 0,
		fmt.Sprintf("%s, %d with an empty handler", count(guarded.allocs), empty.allocs))}
	empty, guarded = c.at(results, crawlersRow, emptyCell), c.at(results, crawlersRow, guardCell)
	dearer := guarded.over(&empty)
	blocked, page := c.at(results, forbiddenRow, guardCell), c.at(results, forbiddenRow, filesCell)
	return append(aims,
		atMost("a crawler's request that is allowed, over an empty handler: at most 2.5 µs", dearer.middle, 2500,
			fmt.Sprintf("%s (%s to %s)", duration(dearer.middle), duration(dearer.low), duration(dearer.high))),
		atMost("the same: at most two allocations", float64(guarded.allocs-empty.allocs), 2,
			fmt.Sprintf("%s, %d with an empty handler", count(guarded.allocs), empty.allocs)),
		atMost("a blocked request: at most half of stock Caddy's page of a kilobyte, from a file", blocked.ns.middle, page.ns.middle/2,
			fmt.Sprintf("%s, the page %s", duration(blocked.ns.middle), duration(page.ns.middle))))
}

func requestsAims(duels []duel) (aims []aim) {
	of := func(subject, traffic string) (d duel) {
		for _, d = range duels {
			if d.subject == subject && d.traffic == traffic {
				return d
			}
		}
		return duel{}
	}
	find := func(subject string) duel { return of(subject, "browsers") }
	noise, nothing, enforce, snippet := find(noiseSubject), find(emptySubject), find("enforce"), find(regexpSubject)
	for _, d := range []duel{enforce, find("monitor"), find(proxySubject)} {
		a := shown(d.subject+", browsers: at least 0.99 of stock Caddy's requests a second", d.requests, 0.99)
		if d.cpu > 0 {
			a.measured += "; processor time a request " + d.cpuTo.String()
		}
		limit := nothing
		if d.subject == proxySubject {
			limit = find(emptyProxy)
		}
		a.measured += fmt.Sprintf("; the limit, an empty handler: %s", limit.requests)
		aims = append(aims, a)
	}
	limit := find(limitSubject)
	aims = append(aims, shown("enforce, browsers: at least 0.985 of an empty handler's, which no module can undercut", limit.requests, 0.985),
		shown("enforce, crawlers: at least 0.88 of stock Caddy's requests a second", of("enforce", "crawlers").requests, 0.88))
	for _, most := range []struct {
		sites int
		limit float64
	}{{fewerSites, 1.03}, {mostSites, 1.1}} {
		sites, limit := most.sites, most.limit
		for _, traffic := range []string{"browsers", "crawlers"} {
			one, many := of("enforce", traffic).cpuTo.middle, of(ofSites("enforce", sites), traffic).cpuTo.middle
			a := aim{
				goal:     fmt.Sprintf("enforce, %s: processor time to stock's with %s sites at most %.2f times that with one", traffic, thousands(sites), limit),
				measured: "not measured", outcome: "open",
			}
			if one > 0 && many > 0 {
				a = atMost(a.goal, many/one, limit, fmt.Sprintf("×%.3f", many/one))
				if empty := of(ofSites(emptySubject, sites), traffic).cpuTo; empty.middle > 0 {
					a.measured += fmt.Sprintf("; with %s sites an empty handler takes %s of stock's", thousands(sites), empty)
				}
			}
			aims = append(aims, a)
		}
	}
	p99 := aim{"enforce, browsers: p99 within the noise", fmt.Sprintf("%s; stock against itself %s", enforce.p99, noise.p99), "met: the intervals overlap"}
	switch {
	case enforce.p99 == (estimate{}) || noise.p99 == (estimate{}):
		p99.measured, p99.outcome = "not measured", "open"
	case enforce.p99.few:
		p99.outcome = "open: too few rounds"
	case enforce.p99.low > noise.p99.high:
		p99.outcome = fmt.Sprintf("**missed** by %.1f %%", (enforce.p99.middle-noise.p99.middle)*100)
	}
	faster := aim{goal: "at least as fast as the User-Agent regexp", outcome: "open", measured: "not measured"}
	if snippet.perSecond > 0 && enforce.perSecond > 0 {
		faster.measured = fmt.Sprintf("%s of stock, the regexp %s", enforce.requests, snippet.requests)
		switch {
		case enforce.requests.few:
			faster.outcome = "open: too few rounds"
		case enforce.requests.low >= snippet.requests.high:
			faster.outcome = "met"
		case enforce.requests.high < snippet.requests.low:
			faster.outcome = "**missed**"
		}
	}
	return append(aims, p99, faster)
}

// aimLines renders the aims of a section as table rows.
func aimLines(aims []aim) string {
	var b strings.Builder
	for _, a := range aims {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", a.goal, a.measured, a.outcome)
	}
	return b.String()
}

const aimsHead = "| aim | measured | outcome |\n|---|---|---|\n"
