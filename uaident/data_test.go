package uaident

import (
	"os"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/spelling"
)

// dataLines returns the lines of a list that is not part of this repository,
// and skips the test where it is absent.
func dataLines(t testing.TB, name string) []string {
	t.Helper()
	data, err := os.ReadFile("../../shared/data/" + name)
	if err != nil {
		t.Skip("the list is not here: ", err)
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

// The figures below which identification must never fall; internal/measure
// prints them in full.
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
		if spelling.Among(strings.Split(f[1], "|"), id.Token) {
			exact++
		}
	}
	if found*1000 < labelled*800 || named*1000 < labelled*930 || exact*1000 < (found+tools)*950 {
		t.Errorf("%d of %d labelled robots are found, %d have a name, %d are libraries; %d have the labelled token", found, labelled, named, tools, exact)
	}
	wrong, browsers := 0, dataLines(t, "useragents-browsers.txt")
	for _, ua := range browsers {
		if Identify(ua).Class > Other {
			wrong++
		}
	}
	if wrong*100000 > len(browsers)*5 {
		t.Errorf("%d of %d browsers and apps are taken for robots", wrong, len(browsers))
	}
	judged, services := 0, dataLines(t, "services.tsv")
	for _, row := range services {
		if ua, _, _ := strings.Cut(row, "\t"); Identify(ua).Wildcard() {
			judged++
		}
	}
	if judged*1000 > len(services)*5 {
		t.Errorf("the `*` group judges %d of %d services", judged, len(services))
	}
}
