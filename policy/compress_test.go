package policy

import (
	"strings"
	"testing"
)

// TestCompressed compresses and parses files of all kinds.
func TestCompressed(t *testing.T) {
	for _, body := range append([]string{strings.Repeat("Disallow: /0123456\n", MaxSize/19+2)}, oddFiles...) {
		r := Parse([]byte(body))
		again, err := ParseCompressed(r.Compressed())
		if err != nil || again.Text() != r.Text() || again.RulesDigest() != r.RulesDigest() {
			t.Errorf("%.20q: %v", body, err)
		}
	}
	cut := Parse([]byte(smallFile)).Compressed()
	tooLarge := &Robots{text: strings.Repeat("#", MaxSize+1)}
	for name, data := range map[string][]byte{"empty": nil, "other": []byte("User-agent: *"), "cut": cut[:len(cut)-1], "too large": tooLarge.Compressed()} {
		if _, err := ParseCompressed(data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
