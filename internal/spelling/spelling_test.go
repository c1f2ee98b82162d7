package spelling

import "testing"

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b       string
		most, want int
	}{
		{"googlebot", "googlebot", 3, 0},
		{"googelbot", "googlebot", 3, 1}, // swapped
		{"goglebot", "googlebot", 3, 1},  // left out
		{"googlebott", "googlebot", 3, 1},
		{"foogleb0t", "googlebot", 3, 2},
		{"ca", "abc", 9, 3}, // no part is edited twice
		{"gptbot", "bingbot", 3, 3},
		{"googlebot", "bingbot", 2, 2}, // no further than that
		{"", "abc", 9, 3},
		{"abc", "", 9, 3},
		{"", "", 9, 0},
	} {
		if got := Distance(tc.a, tc.b, tc.most); got != tc.want {
			t.Errorf("Distance(%q, %q, %d) = %d, want %d", tc.a, tc.b, tc.most, got, tc.want)
		}
		if got := Distance(tc.b, tc.a, tc.most); got != tc.want {
			t.Errorf("Distance(%q, %q, %d) = %d, want %d", tc.b, tc.a, tc.most, got, tc.want)
		}
	}
}

func TestLetters(t *testing.T) {
	for name, want := range map[string]string{"ai-training": "aitraining", "Ai_Training": "aitraining", "Sogou web spider": "sogouwebspider", "Yahoo! Slurp": "yahooslurp", "": ""} {
		if got := Letters(name); got != want {
			t.Errorf("Letters(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestSwapped(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"gtpbot", "gptbot", true},
		{"ccbto", "ccbot", true},
		{"bignbot", "bingbot", true},
		{"pgtbot", "gptbot", true},
		{"gptbot", "gptbot", false},
		{"tgpbot", "gptbot", false},
		{"gpbtot", "gptbto", false},
		{"gptbo", "gptbot", false},
		{"bx", "by", false},
		{"", "", false},
	} {
		if got := Swapped(tc.a, tc.b); got != tc.want {
			t.Errorf("Swapped(%q, %q) = %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
}
