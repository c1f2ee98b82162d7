package policy

import (
	"strings"
	"testing"
)

// TestGramsCannotBeMadeToCollide compiles rules whose grams fell into one part
// of the table when the multiplier was 2^32 divided by the golden ratio: a
// verdict took a thousand times as long. They are spread like any others now.
// That so many of them meet by chance is less likely than one in ten thousand.
func TestGramsCannotBeMadeToCollide(t *testing.T) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~!'()+,;:@&"
	const goldenRatio = 0x9E3779B1
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	rules := 0
	for _, w := range []byte(letters) {
		for _, x := range []byte(letters) {
			for _, y := range []byte(letters) {
				for _, z := range []byte(letters) {
					if gram := uint32(w)<<24 | uint32(x)<<16 | uint32(y)<<8 | uint32(z); gram*goldenRatio>>20 == 5 {
						b.WriteString("Disallow: *" + string([]byte{w, x, y, z}) + "*\n")
						rules++
					}
				}
			}
		}
	}
	r := Parse([]byte(b.String()))
	if rules < 5000 || b.Len() > MaxSize {
		t.Fatalf("%d rules, %d bytes", rules, b.Len())
	}
	long := r.Select(true, "x").strict.rules.wildcards.long
	longest, run := 0, 0
	for _, slot := range long.slots {
		if slot.to == 0 {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	if longest > rules/8 {
		t.Errorf("%d of %d grams stand in a row", longest, rules)
	}
}
