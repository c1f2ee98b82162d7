package uaident

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// dataLines returns the lines of a list outside this repository. dataLines skips the test if the
// list is missing.
func dataLines(t testing.TB, name string) []string {
	t.Helper()
	data, err := os.ReadFile("../../shared/data/" + name)
	if err != nil {
		t.Skip("the list is missing: ", err)
	}
	return strings.Split(strings.TrimRight(string(data), "\n"), "\n")
}

func BenchmarkLists(b *testing.B) {
	b.Run("browsers", func(b *testing.B) { benchIdentify(b, dataLines(b, "useragents-browsers.txt")) })
	b.Run("bots", func(b *testing.B) {
		uas := dataLines(b, "useragents-bots.tsv")[1:]
		for i := range uas {
			uas[i], _, _ = strings.Cut(uas[i], "\t")
		}
		benchIdentify(b, uas)
	})
}

// TestFigures checks lower bounds of the identification accuracy, and logs the accuracy.
func TestFigures(t *testing.T) {
	var labelled, found, named, exact, tools int
	for _, row := range dataLines(t, "useragents-bots.tsv") {
		f := strings.Split(row, "\t")
		if len(f) != 3 || f[2] != "A" {
			continue
		}
		labelled++
		id := Identify(f[0])
		if id.Class != Browser {
			named++
		}
		switch {
		case id.Class.IsCrawler():
			found++
		case id.Class == Library || id.Class == Headless:
			tools++
		default:
			continue
		}
		if text.ContainsFold(strings.Split(f[1], "|"), id.Token) {
			exact++
		}
	}
	if found*1000 < labelled*800 || named*1000 < labelled*930 || exact*1000 < (found+tools)*950 {
		t.Errorf("of %d found robots of %d labelled robots, %d have a name, %d are libraries and %d have the labelled token", found, labelled, named, tools, exact)
	}
	wrong, browsers := 0, dataLines(t, "useragents-browsers.txt")
	for _, ua := range browsers {
		if Identify(ua).Class > Other {
			wrong++
		}
	}
	if wrong*100000 > len(browsers)*5 {
		t.Errorf("%d of %d browsers and apps are identified as robots", wrong, len(browsers))
	}
	services := dataLines(t, "services.tsv")[1:]
	for _, row := range services {
		if ua, _, _ := strings.Cut(row, "\t"); Identify(ua).WildcardApplies() {
			t.Errorf("the `*` group applies to the service %q", ua)
		}
	}
	t.Logf("robots %d: named %d, crawlers %d, libraries %d, exact token %d; browsers %d: wrong %d; services %d",
		labelled, named, found, tools, exact, len(browsers), wrong, len(services))
}

func TestHardCases(t *testing.T) {
	for _, row := range dataLines(t, "useragents-hard.tsv") {
		f := strings.Split(row, "\t")
		if len(f) != 3 || row[0] == '#' {
			continue
		}
		ua := f[0]
		if u, err := strconv.Unquote(`"` + strings.ReplaceAll(ua, `"`, `\"`) + `"`); err == nil {
			ua = u
		}
		id := Identify(ua)
		token, class := id.Token, "crawler"
		switch {
		case id.Class == Browser:
			token, class = "-", "browser"
		case id.Class == Library:
			class = "lib"
		case id.Class == Headless || id.Class == Other:
			class = id.Class.String()
		case id.Class == GenericCrawler && id.Crawler == nil:
			class = "heur"
		}
		if token != f[1] || class != f[2] {
			t.Errorf("%s: %q %s, want %q %s", f[0], token, class, f[1], f[2])
		}
	}
}
