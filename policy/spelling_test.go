package policy

import (
	"strings"
	"testing"
)

// TestEveryPartOfAFormIsFound judges targets by a rule for each part of each form: at the ends,
// across the question mark, and in text that forms share. Additional rules make the index
// necessary.
func TestEveryPartOfAFormIsFound(t *testing.T) {
	filler := "User-agent: *\n"
	for _, c := range "ABCDEFGHIJ" {
		filler += "Disallow: /*" + strings.Repeat(string(c), 5) + "\n"
	}
	for _, url := range []string{
		"/wiki/AC%2Fmain//edit?next=/login%3Fx&back=%2Fhome",
		"/x//y?/", "/x%2Fy?%2f", "/%2F?/%3F", "/long/enough/path%2Fz?q", "/a%5c../b",
	} {
		var target Target
		target.Set(url, false)
		for _, x := range target.variants() {
			for from := range x.text {
				for to := from + 2; to <= min(from+20, len(x.text)); to++ {
					part := x.text[from:to]
					if !isCanonicalRule(part) && string(appendCanonical(nil, part, true)) != part {
						continue // splits an escape
					}
					rule, allows := "Disallow: *", x.normalization&(QueryDecoded|QueryEncoded) != 0
					if allows { // derived forms of the query apply to allow rules only
						rule = "Disallow: /\nAllow: *"
					}
					r := Parse([]byte(filler + rule + part + "\n"))
					if r.Select(true, "x").Judge(url).Allowed != allows {
						t.Errorf("%q in form %q of %q is not found", part, x.text, url)
					}
				}
			}
		}
	}
}

// TestOneGramOfManyPatterns tests patterns with the same gram and different bytes
// before it.
func TestOneGramOfManyPatterns(t *testing.T) {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	before := []string{"", "a", "b", "ba", "cba", "dcba", "xdcba", "xcba", "dxba", "é", "/", "a*"}
	for _, s := range before {
		b.WriteString("Disallow: /*" + s + "1234\n")
	}
	r := Parse([]byte(b.String()))
	for _, s := range append(before, "q", "dcb", "dcbaé", "12341", "123", "1234a") {
		for _, target := range []string{"/" + s + "1234", "/x/" + s + "1234", "/" + s + "1234/1234" + s + "1234"} {
			compareWithNaive(t, r, "x", target)
		}
	}
}
