package uaident

import (
	"slices"
	"testing"
)

// TestTrainsOnly holds the list of those that only train short and known: each of them
// can be blocked because of a preference.
func TestTrainsOnly(t *testing.T) {
	var only []string
	crawlers := Default().Crawlers()
	for i := range crawlers {
		if crawlers[i].TrainsOnly() {
			only = append(only, crawlers[i].Token)
		}
	}
	if want := []string{"ClaudeBot", "MistralAI-Training"}; !slices.Equal(only, want) {
		t.Errorf("%v only train, want %v: has the operator's page been read?", only, want)
	}
	for _, token := range []string{"Googlebot", "bingbot", "Applebot", "Amazonbot", "meta-externalagent", "GPTBot", "CCBot", "GoogleOther"} {
		c := Default().Lookup(token)
		if c.Purposes.Of != ForOthers && !c.Purposes.Of.IsMixed() {
			t.Errorf("%s has one purpose", token)
		}
	}
	claude := *Default().Lookup("ClaudeBot")
	for name, change := range map[string]func(c *Crawler){
		"another class":       func(c *Crawler) { c.Class = Search },
		"from a collection":   func(c *Crawler) { c.Provenance = Dataset },
		"for a person":        func(c *Crawler) { c.UserTriggered = true },
		"nothing is known":    func(c *Crawler) { c.Purposes = Purposes{} },
		"nobody says so":      func(c *Crawler) { c.Purposes.Source = "" },
		"it searches as well": func(c *Crawler) { c.Purposes.Of |= ForSearch },
	} {
		c := claude
		if change(&c); c.TrainsOnly() {
			t.Errorf("%s: it only trains", name)
		}
	}
	if got := (ForTraining | ForOthers).Words(); !slices.Equal(got, []string{"training", "others"}) {
		t.Errorf("the words are %q", got)
	}
	if (*Crawler)(nil).TrainsOnly() {
		t.Error("nobody trains")
	}
}
