package text

import (
	"math/rand/v2"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b       string
		most, want int
	}{
		{"googlebot", "googlebot", 3, 0},
		{"googelbot", "googlebot", 3, 1}, // swapped bytes
		{"goglebot", "googlebot", 3, 1},  // missing byte
		{"googlebott", "googlebot", 3, 1},
		{"foogleb0t", "googlebot", 3, 2},
		{"ca", "abc", 9, 3}, // no substring is edited twice
		{"gptbot", "bingbot", 3, 3},
		{"googlebot", "bingbot", 2, 2}, // bounded by the limit
		{"", "abc", 9, 3},
		{"abc", "", 9, 3},
		{"", "", 9, 0},
	} {
		if got := EditDistance(tc.a, tc.b, tc.most); got != tc.want {
			t.Errorf("EditDistance(%q, %q, %d) = %d, want %d", tc.a, tc.b, tc.most, got, tc.want)
		}
		if got := EditDistance(tc.b, tc.a, tc.most); got != tc.want {
			t.Errorf("EditDistance(%q, %q, %d) = %d, want %d", tc.b, tc.a, tc.most, got, tc.want)
		}
	}
}

func TestFoldSpelling(t *testing.T) {
	for name, want := range map[string]string{"ai-training": "aitraining", "Ai_Training": "aitraining", "Sogou web spider": "sogouwebspider", "Yahoo! Slurp": "yahooslurp", "": ""} {
		if got := FoldSpelling(name); got != want {
			t.Errorf("FoldSpelling(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestIsTransposition(t *testing.T) {
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
		if got := IsTransposition(tc.a, tc.b); got != tc.want {
			t.Errorf("IsTransposition(%q, %q) = %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
}

// TestMinEdits checks the lower bound for randomly edited names.
func TestMinEdits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	far := 0
	for range 10_000 {
		a := make([]byte, 1+random.IntN(12))
		for i := range a {
			a[i] = byte("abcdefghijklmnopqrstuvwxyz0123456789"[random.IntN(36)])
		}
		b := append([]byte(nil), a...)
		for range random.IntN(6) {
			b[random.IntN(len(b))] = byte('a' + random.IntN(26))
		}
		least, d := MinEdits(ByteSet(string(a)), ByteSet(string(b))), EditDistance(string(a), string(b), 99)
		if least > d {
			t.Fatalf("%s and %s: MinEdits %d is greater than the distance %d", a, b, least, d)
		}
		if least > 1 {
			far++
		}
	}
	if far == 0 {
		t.Error("the bound is always below 2")
	}
}
