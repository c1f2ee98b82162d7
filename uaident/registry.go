package uaident

import (
	_ "embed" // the registry as a text

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

//go:generate go run ./internal/gen

// Crawler is an entry of the registry: what is publicly known about a crawler,
// an HTTP library or a headless browser.
type Crawler struct {
	// Token is the product token as its operator spells it, which is what a
	// robots.txt names. It may have several words ("Sogou web spider").
	Token string
	// Operator runs the crawler; empty if many do.
	Operator string
	// Class is the crawler's main purpose.
	Class Class
	// UserTriggered says that a person's action causes its fetches.
	UserTriggered bool
	// Wildcard says whether the `*` group applies to it.
	Wildcard Wildcard
	// Fallback holds the tokens whose groups it is documented to obey where no
	// group names it: Googlebot for Googlebot-Image.
	Fallback []string
	// Aliases are other names of the same crawler, former ones included.
	Aliases []string
	// RobotsOnly says that the token exists in robots.txt files alone and is
	// never sent, such as Google-Extended.
	RobotsOnly bool
	// Controls says what a group for such a token decides, in words that go on after
	// "its group says"; empty for any other token.
	Controls string
	// Family says that unknown names which begin with the token followed by
	// "-" or a capital letter (Baiduspider-foo, YandexFoo) obey its groups.
	Family bool
	// App says that an app which people use sends one of the names, too. Only a
	// URL or mail address next to it, or "compatible;" before it, tells the
	// crawler from the app. It does not concern names that say robot.
	App bool
	// ExactCase says that case alone tells the token from that of another crawler:
	// Exa's ExaBot is not Exalead's Exabot. Any other spelling is the other's. A
	// robots.txt cannot make that difference: a group for either is for both.
	ExactCase bool
	// Verification is how a claim to be this crawler can be verified.
	Verification Verification
	// CrawlDelay is what it does with the Crawl-delay of a robots.txt.
	CrawlDelay CrawlDelay
	// Purposes is what it fetches pages for.
	Purposes Purposes
	// RobotsLag is how long it takes to follow a change of a robots.txt.
	RobotsLag RobotsLag
	// Source is the page that the entry was written from; empty if it is from
	// general knowledge only.
	Source string
	// Checked is the day on which the entry was last checked, such as 2026-11-23;
	// empty if that is not known.
	Checked string
	// Provenance says how good the entry's facts are.
	Provenance Provenance
}

// Wildcard says whether the `*` group of a robots.txt applies to a crawler.
type Wildcard uint8

const (
	WildcardByClass Wildcard = iota // as for other crawlers of its class, and not if it is user-triggered
	WildcardOn                      // it is documented, or the owner decided, that it does
	WildcardOff                     // it is documented, or the owner decided, that it does not
)

// Verification is what an operator publishes so that others can tell its
// crawler from those that only use its name. All empty: nothing is published.
type Verification struct {
	// RDNS holds the domains, each with a leading dot, one of which the name of
	// the client's address must end with, if it also resolves to that address.
	RDNS []string
	// Ranges holds URLs of lists that together have all addresses that it uses.
	Ranges []string
	// ConfirmingRanges holds URLs of lists that may lack some of its addresses. An
	// address in one of them confirms a claim; that it is in none proves nothing.
	ConfirmingRanges []string
	// WebBotAuth is the URL of its directory of signature keys.
	WebBotAuth string
	// Unsure says that these facts are not from the operator: they may confirm
	// a claim, but failing them proves nothing.
	Unsure bool
}

// Provenance says where the facts of a registry entry come from.
type Provenance uint8

const (
	Documented Provenance = iota // the operator's own page
	Dataset                      // a public collection
	Unsourced                    // general knowledge: treat as unsure
)

// ControlToken returns the name whose group says whether the operator of c may train models
// on what c fetches: Google-Extended or Applebot-Extended, "" for other operators.
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

// JudgedByWildcard reports whether the `*` group applies to c by default: as
// the entry says, else as its class says, but not if it is user-triggered.
func (c *Crawler) JudgedByWildcard() bool {
	switch c.Wildcard {
	case WildcardOn:
		return true
	case WildcardOff:
		return false
	}
	return c.Class.JudgedByWildcard() && !c.UserTriggered
}

// Registry knows crawlers by name. It is immutable and may be used by several
// goroutines at once.
type Registry struct {
	crawlers []Crawler
	keys     []words.Key
	stops    int // keys before this one are stop words
	table    *words.Table
}

// Default returns the registry that is built into this package. It is compiled
// from registry.json and costs nothing at start.
func Default() *Registry { return &defaultRegistry }

//go:embed registry.json
var registryJSON []byte

// JSON returns the text that [Default] is compiled from. It must not be modified.
func JSON() []byte { return registryJSON }

// Crawlers returns all entries, sorted by token without regard to case. They
// must not be modified.
func (r *Registry) Crawlers() []Crawler { return r.crawlers[:len(r.crawlers):len(r.crawlers)] }

// Lookup returns the entry that has token as its token or one of its aliases,
// without regard to case unless case tells two entries apart, or nil. It must
// not be modified.
func (r *Registry) Lookup(token string) *Crawler {
	first := words.FirstWord(token)
	k := r.key(first, words.Hash(first))
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

// key returns the key of a word with the given hash, or nil.
func (r *Registry) key(word string, hash uint32) *words.Key {
	for i := words.Slot(hash); ; i = (i + 1) & (words.Slots - 1) {
		slot := r.table[i]
		if slot == 0 {
			return nil
		}
		if words.Tag(slot) == words.Tag(hash) {
			k := &r.keys[words.Number(slot)-1]
			if len(k.Text) == len(word) && hasFoldedPrefix(word, k.Text) {
				return k
			}
		}
	}
}

// hasFoldedPrefix reports whether s begins with lower, which is in lower case,
// without regard to ASCII case.
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
