package main

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
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

func TestPlotsAreDrawings(t *testing.T) {
	lines := func(points ...point) string {
		return linePlot{"A <title> & more", "what", "rules", "time", []panel{{"left", []series{{"ours", points}, {"C++ & <co>", points}}}, {"right", nil}}}.svg()
	}
	for name, svg := range map[string]string{
		"lines":                       lines(point{10, 100}, point{31843, 5e9}),
		"one point":                   lines(point{10, 100}),
		"no point":                    lines(),
		"points that cannot be drawn": lines(point{0, 1}, point{10, 0}, point{10, math.NaN()}, point{math.Inf(1), 5}, point{10, -3}),
		"dots": dotPlot{"title", "desc", "ratio", []dotRow{
			{"a & b", 0, estimate{0.2, 0.5, 0.6, false}}, {"far off", 1, estimate{0.1, 5, 9, false}},
			{"not measured", 2, estimate{}}, {"no number", 3, estimate{math.NaN(), math.NaN(), math.NaN(), true}},
		}}.svg(),
		"no dots": dotPlot{title: "title", desc: "desc", x: "ratio"}.svg(),
	} {
		checkSVG(t, name, svg)
	}
}

// TestThePageShowsThePlots checks the plots in the repository.
func TestThePageShowsThePlots(t *testing.T) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`!\[[^\]]{20,}\]\((images/benchmarks-[^)]*)\)`).FindAllStringSubmatch(string(content), -1)
	if len(shown) != 2 {
		t.Errorf("%d plots with an alternative text, want 2", len(shown))
	}
	for _, section := range []string{"growth", "requests"} {
		svg, err := os.ReadFile(plotFile(section))
		if err != nil {
			t.Fatal(err)
		}
		checkSVG(t, section, string(svg))
		if !strings.Contains(string(content), "(images/benchmarks-"+section+".svg)") {
			t.Errorf("the page does not show the plot %s", section)
		}
	}
}
