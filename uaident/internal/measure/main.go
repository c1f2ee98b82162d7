// Command measure runs the identification over lists of User-Agents and prints
// how good and how fast it is.
//
//	go run ./uaident/internal/measure [-v] [-write] [directory]
//
// The directory holds four lists (by default ../shared/data; they are third
// parties' and not part of this repository):
//
//   - useragents-bots.tsv: User-Agent, product token alternatives, tier. Of tier
//     A, the labelled one, it counts those that are found as crawlers (any class
//     but browser, other, library and headless), those that are given a name at
//     all, those that the `*` group judges, also among those that are of no class
//     that it spares (feed readers, previews, monitors, services, ads, assistants,
//     libraries), and, among crawlers, libraries and headless browsers, those whose
//     token is one of the labels, without regard to case. Of tier B, robots
//     without a label, it counts who is found; of tier S, services, who has the
//     labelled token and whom the `*` group judges, which is to be nobody.
//   - useragents-browsers.txt: browsers and apps. A false positive is one that is
//     called a crawler, a library or headless. Apps whose User-Agent begins
//     with a product of their own are class other: they are called by the name
//     that they give themselves, and no `*` group applies to them. They are
//     counted apart.
//   - services.tsv: User-Agent, family: clients that are no crawlers. What counts
//     is whom a file "User-agent: *", "Disallow: /" keeps from a page, by GET and
//     by POST.
//   - useragents-hard.tsv: cases with a token and a class that must be right.
//
// All but the last are also split into halves by a hash of the User-Agent. What was
// missed or misnamed was looked at in the tuning half alone, so the other half
// shows what the rules are worth; of the browsers, which are to be all but free
// of false positives, both halves were looked at.
//
// The exit status is 1 if a figure of the whole misses its aim. It says so if docs/libraries.md
// tells other figures, unless -write puts them there.
package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/spelling"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("measure: ")
	verbose := flag.Bool("v", false, "list what is wrong in the tuning half, and all false positives")
	write := flag.Bool("write", false, "write the figures into "+page)
	flag.Parse()
	dir := "../shared/data"
	if flag.NArg() > 0 {
		dir = flag.Arg(0)
	}
	var missed []string
	list := func(name string) []string { return lines(filepath.Join(dir, name)) }

	bots, browsers, services := list("useragents-bots.tsv"), list("useragents-browsers.txt"), list("services.tsv")
	of := make(map[string]*figures)
	for _, h := range halves {
		a := measureBots(bots, "A", h, *verbose && h.name == "tuning")
		fmt.Printf("%-10s tier A %4d  crawlers %.1f %%  judged by `*` %.1f %%, of those it does not spare %.1f %%  named at all %.1f %%  token exact %.1f %%\n", h.name, a.all,
			percent(a.crawlers, a.all), percent(a.judged, a.all), percent(a.judged, a.all-a.spared), percent(a.all-a.browsers, a.all), percent(a.exact, a.crawlers+a.tools))
		b := measureBots(bots, "B", h, false)
		fmt.Printf("%-10s tier B %4d  crawlers %.1f %%  judged by `*` %.1f %%  named at all %.1f %%\n", h.name, b.all,
			percent(b.crawlers, b.all), percent(b.judged, b.all), percent(b.all-b.browsers, b.all))
		c := measureBots(bots, "S", h, false)
		fmt.Printf("%-10s tier S %4d  judged by `*` %d  named at all %.1f %%\n", h.name, c.all, c.judged, percent(c.all-c.browsers, c.all))
		f := measureBrowsers(browsers, h, *verbose && h.name == "all")
		fmt.Printf("%-10s browsers %5d  false positives %d (%.3f %%): crawlers %d, libraries and headless %d; other %d\n",
			h.name, f.all, f.crawlers+f.tools, percent(f.crawlers+f.tools, f.all), f.crawlers, f.tools, f.other)
		v := measureServices(services, h, *verbose && h.name == "tuning")
		fmt.Printf("%-10s services %4d  blocked on GET %d (%.2f %%), on POST %d\n", h.name, v.all, v.get, percent(v.get, v.all), v.post)
		of[h.name] = &figures{a, f, v}
		if h.name == "all" {
			fmt.Println("  by family:", v.families())
			aims := []struct {
				name string
				met  bool
			}{
				{"crawlers of tier A: 80 %", percent(a.crawlers, a.all) >= 80},
				{"judged by `*` of those of tier A that it does not spare: 80 %", percent(a.judged, a.all-a.spared) >= 80},
				{"named at all of tier A: 93 %", percent(a.all-a.browsers, a.all) >= 93},
				{"token exact of tier A: 95 %", percent(a.exact, a.crawlers+a.tools) >= 95},
				{"browsers taken for robots: at most 0.005 %", percent(f.crawlers+f.tools, f.all) <= 0.005},
				{"services blocked on GET: at most 0.5 %", percent(v.get, v.all) <= 0.5},
				{"services blocked on POST: none", v.post == 0},
			}
			for _, aim := range aims {
				if !aim.met {
					missed = append(missed, aim.name)
				}
			}
		}
	}
	wrong, all := measureHard(list("useragents-hard.tsv"))
	fmt.Printf("hard cases %d of %d right\n", all-len(wrong), all)
	for _, w := range wrong {
		missed = append(missed, "hard case: "+w)
	}
	for i := range bots {
		bots[i], _, _ = strings.Cut(bots[i], "\t")
	}
	speed("browsers", browsers)
	speed("bots", bots)
	if err := hold(page, table(of["all"], of["validation"]), *write); err != nil {
		log.Print(err) // the lists may be others than those that the page tells of
	}
	for _, m := range missed {
		log.Print("missed: ", m)
	}
	if len(missed) > 0 {
		os.Exit(1)
	}
}

// A half of a list.
type half struct {
	name string
	has  func(ua string) bool
}

var halves = []half{
	{"all", func(string) bool { return true }},
	{"tuning", func(ua string) bool { return hash(ua)%2 == 0 }},
	{"validation", func(ua string) bool { return hash(ua)%2 == 1 }},
}

func hash(s string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(s))
	return h.Sum32()
}

type counts struct{ all, crawlers, tools, other, browsers, judged, spared, exact int }

func (c *counts) add(id uaident.Identity) {
	c.all++
	switch {
	case id.Class.IsCrawler():
		c.crawlers++
	case id.Class == uaident.Library || id.Class == uaident.Headless:
		c.tools++
	case id.Class == uaident.Other:
		c.other++
	default:
		c.browsers++
	}
	switch {
	case id.Wildcard():
		c.judged++
	case id.Class > uaident.Other:
		c.spared++
	}
}

func measureBots(rows []string, tier string, h half, verbose bool) (c counts) {
	for _, row := range rows {
		f := strings.Split(row, "\t")
		if len(f) != 3 || f[2] != tier || !h.has(f[0]) {
			continue
		}
		id := uaident.Identify(f[0])
		c.add(id)
		found := id.Class.IsCrawler() || id.Class == uaident.Library || id.Class == uaident.Headless
		switch {
		case found && spelling.Among(strings.Split(f[1], "|"), id.Token):
			c.exact++
		case found && verbose:
			fmt.Printf("inexact %s by %s: %q, label %q: %s\n", id.Class, id.Evidence, id.Token, f[1], f[0])
		case verbose:
			fmt.Printf("missed %s, label %q: %s\n", id.Class, f[1], f[0])
		}
	}
	return c
}

func measureBrowsers(rows []string, h half, verbose bool) (c counts) {
	for _, ua := range rows {
		if !h.has(ua) {
			continue
		}
		id := uaident.Identify(ua)
		c.add(id)
		if verbose && id.Class > uaident.Other {
			fmt.Printf("false %s by %s: %q: %s\n", id.Class, id.Evidence, id.Token, ua)
		}
	}
	return c
}

func measureHard(rows []string) (wrong []string, all int) {
	for _, row := range rows {
		f := strings.Split(row, "\t")
		if len(f) != 3 {
			continue
		}
		all++
		ua := f[0]
		if u, err := strconv.Unquote(`"` + strings.ReplaceAll(ua, `"`, `\"`) + `"`); err == nil {
			ua = u
		}
		id := uaident.Identify(ua)
		token, class := id.Token, "crawler"
		switch id.Class {
		case uaident.Browser:
			token, class = "-", "browser"
		case uaident.Library:
			class = "lib"
		case uaident.Headless, uaident.Other:
			class = id.Class.String()
		case uaident.GenericCrawler:
			if id.Crawler == nil {
				class = "heur"
			}
		}
		if token != f[1] || class != f[2] {
			wrong = append(wrong, fmt.Sprintf("%q %s by %s, not %q %s: %s", token, class, id.Evidence, f[1], f[2], f[0]))
		}
	}
	return wrong, all
}

func speed(name string, uas []string) {
	bytes := 0
	for _, ua := range uas {
		bytes += len(ua)
	}
	r := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			uaident.Identify(uas[i%len(uas)])
		}
	})
	fmt.Printf("speed on %s: %d ns for %d bytes in the mean, %d allocations\n",
		name, r.NsPerOp(), bytes/max(len(uas), 1), r.AllocsPerOp())
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// lines returns the lines of a file but for comments.
func lines(file string) []string {
	data, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && (line[0] != '#' || !strings.Contains(line, "\t")) {
			all = append(all, line)
		}
	}
	return all
}
