package uaident

import (
	_ "embed" // The import embeds registryJSON.

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

//go:generate go run ./internal/gen

// Crawler is a registry entry with the public facts about a crawler, HTTP library or headless
// browser.
type Crawler struct {
	// Token is the product token in its operator's spelling. Groups of a robots.txt name this
	// token. A token may have several words ("Sogou web spider").
	Token string
	// Operator runs the crawler. Operator is empty for software that many operators run.
	Operator string
	// Class is the crawler's main purpose.
	Class Class
	// UserTriggered reports whether a person's action causes the fetches.
	UserTriggered bool
	// Wildcard says whether the `*` group applies to the crawler.
	Wildcard Wildcard
	// Fallback lists tokens of other crawlers. If no group names this crawler, the crawler obeys
	// the groups of these tokens by its documentation: Googlebot for Googlebot-Image.
	Fallback []string
	// Aliases are other names of the crawler, including former names.
	Aliases []string
	// RobotsOnly marks a token that appears in robots.txt files only and in no User-Agent,
	// such as Google-Extended.
	RobotsOnly bool
	// Controls says what a group for a RobotsOnly token decides. The string completes the sentence
	// "its group says ..." and is empty for other tokens.
	Controls string
	// Family extends the entry to other names that begin with the token and "-" or a capital
	// letter, such as Baiduspider-foo and YandexFoo, unless the registry contains the name.
	Family bool
	// App marks an entry whose names a person's app sends too. Such a name identifies the crawler
	// only before a URL or mail address, after "compatible;", or if the name is spelled like a
	// robot's. The rule for names of the list "weak" in words.json is less strict: without App,
	// such a name can also be the first product, unless an app sent the request.
	App bool
	// ExactCase marks a token that differs from another crawler's token by case only: ExaBot
	// (Exa) and Exabot (Exalead). Any other spelling is the other crawler. Groups of a
	// robots.txt ignore case, so a group for either name applies to both.
	ExactCase bool
	// Verification lists the ways to verify a client with this name.
	Verification Verification
	// CrawlDelay describes how the crawler treats Crawl-delay.
	CrawlDelay CrawlDelay
	// Purposes lists the uses of the fetched pages.
	Purposes Purposes
	// RobotsLag is the time that the crawler needs to follow a changed robots.txt.
	RobotsLag RobotsLag
	// Source is the URL of the page with these facts, or "" for general knowledge.
	Source string
	// Checked is the date of the last comparison of the facts with Source, such as
	// 2026-11-23, or "" for an unknown date.
	Checked string
	// Provenance is the kind of source from which the facts come.
	Provenance Provenance
}

// Wildcard says whether the `*` group of a robots.txt applies to a crawler.
type Wildcard uint8

const (
	WildcardByClass Wildcard = iota // The class and UserTriggered decide.
	WildcardOn                      // The group applies, as the operator documents or the site's owner configured.
	// The group does not apply, as the operator documents or the site's owner configured.
	WildcardOff
)

// Verification lists the data that an operator publishes for the verification of its crawler.
// The zero value means that the operator publishes nothing.
type Verification struct {
	// RDNS lists domains, each with a leading dot. The reverse DNS name of the client must
	// end with one of them and must resolve to the client's address.
	RDNS []string
	// Ranges lists URLs of address lists. The lists together contain every address of the
	// crawler.
	Ranges []string
	// PartialRanges lists URLs of address lists that may be incomplete ("confirming_ranges" in
	// registry.json). A listed address verifies the client. An address that is not listed proves
	// nothing.
	PartialRanges []string
	// WebBotAuth is the URL of the operator's directory of signature keys.
	WebBotAuth string
	// IsThirdParty marks facts that do not come from the operator ("unsure" in registry.json).
	// They can verify a client, but never prove that a client is spoofed.
	IsThirdParty bool
}

// Provenance is the kind of source from which the facts of a registry entry come.
type Provenance uint8

const (
	Documented Provenance = iota // Documented facts are from the operator's own page.
	Dataset                      // Dataset facts are from a public collection.
	Unsourced                    // Unsourced facts are general knowledge.
)

// ControlToken returns the robots.txt token that controls whether c's operator may train models
// with a site: Google-Extended or Applebot-Extended. The result is "" for other operators.
func (c *Crawler) ControlToken() string {
	switch {
	case c == nil:
		return ""
	case c.Operator == "Google":
		return "Google-Extended"
	case c.Operator == "Apple":
		return "Applebot-Extended"
	}
	return ""
}

// WildcardApplies reports whether the `*` group applies to c by default. The field Wildcard decides
// first, then the class. A user-triggered fetcher is exempt unless the field Wildcard is
// [WildcardOn].
func (c *Crawler) WildcardApplies() bool {
	switch c.Wildcard {
	case WildcardOn:
		return true
	case WildcardOff:
		return false
	}
	return c.Class.WildcardApplies() && !c.UserTriggered
}

// Registry finds crawlers by name. A Registry is immutable and safe for concurrent use.
type Registry struct {
	crawlers           []Crawler
	keys               []words.Key
	numBrowserOnlyKeys int // This is the number of words of browsers that begin no name. Their keys come first.
	table              *words.Table
}

// Default returns the built-in registry. The registry is compiled from registry.json and
// needs no work at start.
func Default() *Registry { return &defaultRegistry }

//go:embed registry.json
var registryJSON []byte

// JSON returns registry.json, the source of [Default]. Callers must not modify the result.
func JSON() []byte { return registryJSON }

// Crawlers returns all entries, sorted by token without regard to case. Callers must not
// modify them.
func (r *Registry) Crawlers() []Crawler { return r.crawlers[:len(r.crawlers):len(r.crawlers)] }

// Lookup returns the entry with the given token or alias, or nil. Lookup ignores case, except
// for entries with ExactCase. Callers must not modify the entry.
func (r *Registry) Lookup(token string) *Crawler {
	first := words.FirstWord(token)
	k := r.findKey(first, words.Hash(first))
	if k == nil {
		return nil
	}
	for _, p := range k.Phrases {
		if len(p.Text) == len(token) && hasFoldedPrefix(token, p.Text) && (p.Exact == "" || p.Exact == token) {
			return &r.crawlers[p.Crawler]
		}
	}
	if first == token && k.Kind == words.Name {
		return &r.crawlers[k.Crawler]
	}
	return nil
}

// findKey returns the key of a word, or nil if the word is neither in words.json nor the first word
// of a registry name. hash is the hash of the word.
func (r *Registry) findKey(word string, hash uint32) *words.Key {
	for i := words.FirstSlot(hash); ; i = (i + 1) & (words.Slots - 1) {
		slot := r.table[i]
		if slot == 0 {
			return nil
		}
		if words.HashTag(slot) == words.HashTag(hash) {
			k := &r.keys[words.KeyNumber(slot)-1]
			if len(k.Text) == len(word) && hasFoldedPrefix(word, k.Text) {
				return k
			}
		}
	}
}

// hasFoldedPrefix reports whether s begins with lower, ignoring ASCII case. lower must be in
// lower case.
func hasFoldedPrefix(s, lower string) bool {
	if len(s) < len(lower) {
		return false
	}
	for i := range len(lower) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
