package main

import (
	"runtime"
	"strings"

	"github.com/jimsmart/grobotstxt"
	"github.com/temoto/robotstxt"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// answer is what was last said. It keeps measured work from being left out as
// unused, and tests look at it.
var answer bool

// parseContest reads files. grobotstxt keeps nothing of a file: its verdict
// reads the file again. Its parser feeds a handler that only counts, so it is
// the cost of scanning.
func parseContest() contest {
	c := contest{name: "Parse"}
	for _, file := range []struct{ name, text string }{
		{"small file", smallFile},
		{"10,000 rules, 40 % wildcards", rulesFile(10000, 40)},
		{"500 KiB, 40 % wildcards", largestFile()},
		{"31,843 plain rules", catalogueFile()},
	} {
		body := []byte(file.text)
		c.rows = append(c.rows, contestRow{name: file.name, bytes: len(body), cells: []cell{
			{"ours", func() { runtime.KeepAlive(policy.Parse(body)) }},
			{"ours, a group compiled", func() {
				runtime.KeepAlive(policy.Parse(body).Select(true, "Googlebot"))
			}},
			{"grobotstxt, scan only", func() {
				handler := new(countingHandler)
				grobotstxt.Parse(file.text, handler)
				runtime.KeepAlive(handler.rules)
			}},
			{"temoto", func() {
				data, _ := robotstxt.FromBytes(body)
				runtime.KeepAlive(data)
			}},
		}})
	}
	return c
}

// countingHandler is told of the lines that grobotstxt reads.
type countingHandler struct{ rules uint64 }

func (h *countingHandler) HandleRobotsStart()                      {}
func (h *countingHandler) HandleRobotsEnd()                        {}
func (h *countingHandler) HandleUserAgent(int, string)             {}
func (h *countingHandler) HandleAllow(int, string)                 { h.rules++ }
func (h *countingHandler) HandleDisallow(int, string)              { h.rules++ }
func (h *countingHandler) HandleSitemap(int, string)               {}
func (h *countingHandler) HandleUnknownAction(int, string, string) {}

// site is what a URL needs before its request target.
const site = "https://example.com"

// judges holds one file as each library holds it between verdicts.
type judges struct {
	text   string
	ours   *policy.Robots
	temoto *robotstxt.RobotsData
}

func judgesOf(text string) (*judges, error) {
	data, err := robotstxt.FromString(text)
	return &judges{text: text, ours: policy.Parse([]byte(text)), temoto: data}, err
}

// The verdicts: whether a crawler with a single token may fetch a target.

func (j *judges) byOurs(token, target string) bool {
	return j.ours.Select(true, token).Judge(target).Allowed
}

func (j *judges) byGrobotstxt(token, target string) bool {
	return grobotstxt.AgentAllowed(j.text, token, site+target)
}

func (j *judges) byTemoto(token, target string) bool {
	return j.temoto.FindGroup(token).Test(target)
}

// verdictContest selects a crawler's group and judges a target by it.
func verdictContest() contest {
	c := contest{name: "Verdict"}
	ordinary := []string{"/products/1234/blue-shoes.html?page=2"}
	for _, row := range []struct {
		name, text string
		targets    []string
	}{
		{"small file", smallFile, ordinary},
		{"small file, escapes in the URL", smallFile, []string{"/products/1234/caf%c3%a9%20au%7elait.html"}},
		{"100 rules, 40 % wildcards", rulesFile(100, 40), ordinary},
		{"1,000 rules", rulesFile(1000, 40), ordinary},
		{"10,000 rules", rulesFile(10000, 40), ordinary},
		{"10,000 rules, another URL each time", rulesFile(10000, 40), targets(1024)},
		{"500 KiB", largestFile(), ordinary},
		{"31,843 plain rules", catalogueFile(), ordinary},
		{"10,000 rules, 8,000-byte URL", rulesFile(10000, 40), []string{"/shop/" + fill("deep/er-7/path.x/", 8000-6)}},
		{"10,000 rules, 8,000-byte query", rulesFile(10000, 40), []string{"/shop/item?" + fill("page=2&sort=price&x1=y2&", 8000-11)}},
		{"500 stars, 8,000-byte URL", starsFile(), []string{"/" + strings.Repeat("a", 7999)}},
	} {
		j, err := judgesOf(row.text)
		if err != nil {
			panic(err) // our own file
		}
		c.rows = append(c.rows, contestRow{name: row.name, cells: []cell{
			{"ours", over(row.targets, func(target string) { answer = j.byOurs("Googlebot", target) })},
			{"grobotstxt", over(row.targets, func(target string) { answer = j.byGrobotstxt("Googlebot", target) })},
			{"temoto", over(row.targets, func(target string) { answer = j.byTemoto("Googlebot", target) })},
		}})
	}
	return c
}
