package policy

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCompressed compresses and parses files of all kinds.
func TestCompressed(t *testing.T) {
	for _, body := range append([]string{strings.Repeat("Disallow: /0123456\n", MaxSize/19+2)}, oddFiles...) {
		r := Parse([]byte(body))
		again, err := ParseCompressed(r.CompressedText())
		if err != nil || again.Text() != r.Text() || again.RulesDigest() != r.RulesDigest() {
			t.Errorf("%.20q: %v", body, err)
		}
	}
	cut := Parse([]byte(smallFile)).CompressedText()
	tooLarge := &Robots{text: strings.Repeat("#", MaxSize+1)}
	for name, data := range map[string][]byte{"empty": nil, "other": []byte("User-agent: *"), "cut": cut[:len(cut)-1], "too large": tooLarge.CompressedText()} {
		if _, err := ParseCompressed(data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestCompressedSize compares Size with the memory of a text that hardly shrinks, before and after
// it is compressed.
func TestCompressedSize(t *testing.T) {
	random := make([]byte, 100<<10)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	r := Parse([]byte("# " + hex.EncodeToString(random)))
	size := r.Size()
	if memory := len(r.Text()) + len(r.CompressedText()); size < memory {
		t.Errorf("the size is %d, but the text needs %d bytes", size, memory)
	}
	if r.Size() != size {
		t.Errorf("the size changes from %d to %d", size, r.Size())
	}
}
