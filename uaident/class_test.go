package uaident

import "testing"

func TestClassWords(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Classes() {
		word := c.String()
		if got, ok := ParseClass(word); !ok || got != c {
			t.Errorf("ParseClass(%q) = %v, %v", word, got, ok)
		}
		if seen[word] {
			t.Errorf("two classes have the name %q", word)
		}
		seen[word] = true
	}
	if len(seen) != 18 {
		t.Errorf("%d classes", len(seen))
	}
	for _, word := range []string{"", "Search", "invalid", "human"} {
		if c, ok := ParseClass(word); ok {
			t.Errorf("ParseClass(%q) = %v", word, c)
		}
	}
	if Class(200).String() != "invalid" || Class(200).IsCrawler() || Class(200).WildcardApplies() {
		t.Error("ParseClass accepts an unknown class")
	}
}

func TestClassDefaults(t *testing.T) {
	tests := []struct {
		class             Class
		crawler, wildcard bool
	}{
		{Browser, false, false}, {Other, false, false}, {Library, false, false}, {Headless, false, false},
		{GenericCrawler, true, true}, {Search, true, true}, {AITraining, true, true}, {AISearch, true, true},
		{AIAssistant, true, false}, {SEO, true, true}, {Ads, true, false}, {Archive, true, true},
		{Research, true, true}, {Security, true, true}, {Preview, true, false}, {Feed, true, false},
		{Monitor, true, false}, {Service, true, false},
	}
	for _, tt := range tests {
		if tt.class.IsCrawler() != tt.crawler || tt.class.WildcardApplies() != tt.wildcard {
			t.Errorf("%s: crawler %v, `*` group %v", tt.class, tt.class.IsCrawler(), tt.class.WildcardApplies())
		}
	}
}
