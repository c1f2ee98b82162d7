package policy

import (
	"crypto/sha256"
	"strings"
)

// HasGroups reports whether the file has a user-agent line. An empty file or a web page has none,
// and so no rules.
func (r *Robots) HasGroups() bool { return len(r.agents) > 0 }

// RulesDigest returns a digest of the rules. Comments, blank lines, surrounding white space and
// Sitemap lines do not change the digest, so a new timestamp in a comment has no effect. All files
// without groups have the digest of the empty file.
func (r *Robots) RulesDigest() [sha256.Size]byte {
	if !r.HasGroups() {
		return sha256.Sum256(nil)
	}
	digest := sha256.New()
	for line := range strings.FieldsFuncSeq(strings.TrimPrefix(r.text, "\ufeff"), func(c rune) bool { return c == '\n' || c == '\r' || c == 0 }) {
		line, _, _ = strings.Cut(line, "#")
		if line = trimSpace(line); line == "" {
			continue
		}
		if name, _, ok := strings.Cut(line, ":"); ok && strings.EqualFold(trimSpace(name), "sitemap") {
			continue
		}
		digest.Write([]byte(line))
		digest.Write([]byte{'\n'})
	}
	return [sha256.Size]byte(digest.Sum(nil))
}
