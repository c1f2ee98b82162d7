package main

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// checkSVG parses a drawing and checks that it has a title, a description and marks,
// all within its size.
func checkSVG(t *testing.T, name, svg string) {
	t.Helper()
	var size [2]float64
	texts, marks := 0, 0
	inTitle, title, desc := "", "", ""
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inTitle = token.Name.Local
			for _, a := range token.Attr {
				number, err := strconv.ParseFloat(a.Value, 64)
				switch {
				case token.Name.Local == "svg" && a.Name.Local == "width":
					size[0] = number
				case token.Name.Local == "svg" && a.Name.Local == "height":
					size[1] = number
				case err == nil && (a.Name.Local == "x" || a.Name.Local == "cx") && (number < 0 || number > size[0]),
					err == nil && (a.Name.Local == "y" || a.Name.Local == "cy") && (number < 0 || number > size[1]):
					t.Errorf("%s: %s=%q is outside of %v", name, a.Name.Local, a.Value, size)
				}
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("%s: %s=%q", name, a.Name.Local, a.Value)
				}
			}
			switch token.Name.Local {
			case "text":
				texts++
			case "circle", "rect", "path":
				marks++
			}
		case xml.CharData:
			switch inTitle {
			case "title":
				title += string(token)
			case "desc":
				desc += string(token)
			}
		}
	}
	if strings.TrimSpace(title) == "" || strings.TrimSpace(desc) == "" || texts < 4 || marks < 4 || size[0] < 100 || size[1] < 100 {
		t.Errorf("%s: title %q, description %q, %d texts, %d marks, size %v", name, title, desc, texts, marks, size)
	}
	if !strings.Contains(svg, "prefers-color-scheme:dark") {
		t.Errorf("%s has no dark colours", name)
	}
}

func TestPlotIsADrawing(t *testing.T) {
	one := []growthPoint{{rulesPanel, 10, stockSeries, 26, spread{0.9, 1, 1.1}}}
	for name, points := range map[string][]growthPoint{
		"no point":  nil,
		"one point": one,
		"no time":   append(one, growthPoint{panel: rulesPanel, x: 100, series: stockSeries}),
		"large":     append(one, growthPoint{sitesPanel, 100_000, guardSeries, 200, spread{3, 4, 5}}),
	} {
		checkSVG(t, name, (&growthPlot{"A <machine> & more", points}).svg())
	}
}

var update = flag.Bool("update", false, "draw the plot from its figures")

// TestThePageShowsThePlot checks that the plot in the repository shows the committed figures,
// and that docs/benchmarks.md shows the plot.
func TestThePageShowsThePlot(t *testing.T) {
	var texts [3]string
	for i, path := range []string{page, plotFile, plotData} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(content)
	}
	if !regexp.MustCompile(`!\[[^\]]{20,}\]\(images/benchmarks-growth\.svg\)`).MatchString(texts[0]) {
		t.Error("the page does not show the plot with an alternative text")
	}
	checkSVG(t, plotFile, texts[1])
	plot, err := parseGrowth(texts[2])
	if err != nil {
		t.Fatal(err)
	}
	if svg := plot.svg(); *update {
		if err := os.WriteFile(plotFile, []byte(svg), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if svg != texts[1] {
		t.Errorf("%s is not the plot of %s; draw it with -update", plotFile, plotData)
	}
	for _, bad := range []string{"", "# x\n", strings.Replace(texts[2], "\t10\t", "\tx\t", 1), texts[2] + "one field\n"} {
		if _, err := parseGrowth(bad); err == nil {
			t.Errorf("no error for %.40q", bad)
		}
	}
}
