package main

import (
	"runtime"
	"strings"

	"github.com/jimsmart/grobotstxt"
	"github.com/temoto/robotstxt"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// answer is the last answer. Storing it keeps the compiler from removing the measured
// work as unused. Tests read it.
var answer bool

// parseComparison measures parsing. grobotstxt stores no parsed file: it parses the file
// again for each verdict. Its parser calls a handler that only counts, so its time is
// that of scanning. The same applies to Google's library.
func parseComparison(g *google) comparison {
	c := comparison{name: "Parse"}
	for _, file := range []struct{ name, text string }{
		{"small file", smallFile},
		{"10,000 rules, 40 % wildcards", rulesFile(10000, 40)},
		{"500 KiB, 40 % wildcards", largestFile()},
		{"31,843 plain rules", catalogueFile(catalogueRules)},
	} {
		body := []byte(file.text)
		c.rows = append(c.rows, comparisonRow{name: file.name, bytes: len(body), cells: []cell{
			{who: "ours", run: func() { runtime.KeepAlive(policy.Parse(body)) }},
			{who: "ours, a group compiled", run: func() {
				runtime.KeepAlive(policy.Parse(body).Select(true, "Googlebot"))
			}},
			{who: "grobotstxt, scan only", run: func() {
				handler := new(countingHandler)
				grobotstxt.Parse(file.text, handler)
				runtime.KeepAlive(handler.rules)
			}},
			{who: "temoto", run: func() {
				data, _ := robotstxt.FromBytes(body)
				runtime.KeepAlive(data)
			}},
		}})
		if g != nil {
			row := &c.rows[len(c.rows)-1]
			row.cells = append(row.cells, g.scanCell(file.text))
		}
	}
	return c
}

// countingHandler counts the rules that grobotstxt parses.
type countingHandler struct{ rules uint64 }

func (h *countingHandler) HandleRobotsStart()                      {}
func (h *countingHandler) HandleRobotsEnd()                        {}
func (h *countingHandler) HandleUserAgent(int, string)             {}
func (h *countingHandler) HandleAllow(int, string)                 { h.rules++ }
func (h *countingHandler) HandleDisallow(int, string)              { h.rules++ }
func (h *countingHandler) HandleSitemap(int, string)               {}
func (h *countingHandler) HandleUnknownAction(int, string, string) {}

// site is the URL before the request target.
const site = "https://example.com"

// parsedFile holds one file as each library stores it between verdicts.
type parsedFile struct {
	text   string
	ours   *policy.Robots
	temoto *robotstxt.RobotsData
}

func parseAll(text string) (*parsedFile, error) {
	data, err := robotstxt.FromString(text)
	return &parsedFile{text: text, ours: policy.Parse([]byte(text)), temoto: data}, err
}

// The verdicts: may a crawler with a single token fetch a target?

func (j *parsedFile) byOurs(token, target string) bool {
	return j.ours.Select(true, token).Judge(target).Allowed
}

func (j *parsedFile) byGrobotstxt(token, target string) bool {
	return grobotstxt.AgentAllowed(j.text, token, site+target)
}

func (j *parsedFile) byTemoto(token, target string) bool {
	return j.temoto.FindGroup(token).Test(target)
}

// longest is the length of the longest targets in bytes.
const longest = 8000

// verdictComparison measures selecting a crawler's group and matching a target.
func verdictComparison(g *google) comparison {
	c := comparison{name: "Verdict"}
	large := rulesFile(10000, 40)
	for _, row := range []struct {
		name, text string
		targets    []string
	}{
		{"small file", smallFile, ordinary},
		{"small file, escapes in the URL", smallFile, []string{"/products/1234/caf%c3%a9%20au%7elait.html"}},
		{"10,000 rules", large, ordinary},
		{"10,000 rules, another URL each time", large, targets(1024)},
		{"500 KiB", largestFile(), ordinary},
		{"31,843 plain rules", catalogueFile(catalogueRules), ordinary},
		{"8,000-byte URL", large, []string{"/shop/" + fill("deep/er-7/path.x/", longest-6)}},
		{"8,000-byte query", large, []string{"/shop/item?" + fill("page=2&sort=price&x1=y2&", longest-11)}},
		{"8,000 bytes of escapes", large, []string{"/shop/" + fill("%c3%a9/%2f//", longest-6)}},
		{"8,000 bytes with several forms", large, []string{"/shop%2fx//y?" + fill("/%3fpage=2%2F&", longest-13)}},
		{"8,000 bytes of parts of rules", large, []string{"/shop" + strings.Join(targets(400), "")[:longest-5]}},
		{"500 stars, 8,000-byte URL", starsFile(), []string{"/" + strings.Repeat("a", longest-1)}},
	} {
		c.rows = append(c.rows, comparisonRow{name: row.name, cells: verdictCells(g, row.text, row.targets)})
	}
	return c
}

// ordinary is a typical target.
var ordinary = []string{"/products/1234/blue-shoes.html?page=2"}

// verdictCells returns the cells of all libraries for one file.
func verdictCells(g *google, text string, targets []string) []cell {
	j, err := parseAll(text)
	if err != nil {
		panic(err) // our own file is valid
	}
	cells := []cell{
		{who: "ours", run: over(targets, func(target string) { answer = j.byOurs("Googlebot", target) })},
		{who: "grobotstxt", run: over(targets, func(target string) { answer = j.byGrobotstxt("Googlebot", target) })},
		{who: "temoto", run: over(targets, func(target string) { answer = j.byTemoto("Googlebot", target) })},
	}
	if g != nil {
		cells = append(cells, g.verdictCell(text, targets))
	}
	return cells
}
