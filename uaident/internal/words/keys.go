package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind is the role of a word in the identification of a User-Agent.
type Kind uint8

const (
	Unknown    Kind = iota // Unknown words are in no list of words.json and not in the registry.
	Browser                // Browser is a word of browsers. It is never the name of a crawler.
	Like                   // After Like, the next word names a similar product: "like Gecko".
	Compatible             // After Compatible, the next word may be a robot's name.
	Device                 // After Device, the rest of the comment describes a device.
	Generic                // Generic is a word for robots: bot, spider.
	Tool                   // Tool is a word for a tool: checker, preview.
	Name                   // Name is a name in the registry.
	Contact                // Contact is not a word, but a URL or mail address.
)

// Vocabulary is the content of words.json: words that name no crawler but have another role, such
// as words of browsers, and ambiguous names.
type Vocabulary struct {
	Browser                                 []string `json:"stop"`
	Like, Compatible, Device, Generic, Tool []string
	// Ambiguous has names that are also apps, companies or ordinary words.
	Ambiguous []string `json:"weak"`
}

// Key is an entry of the hash table: the first word of a crawler's name, or a word of words.json.
type Key struct {
	Text      string   // Text is in lower case.
	Kind      Kind     // Kind is the kind of the word without the following words.
	Crawler   int16    // Crawler is the index of the crawler, for a Name.
	Ambiguous bool     // Ambiguous is true for a Name that must be in the position of a product.
	Phrases   []Phrase // Phrases are longer names that begin with this word. The longest comes first.
}

// Phrase is a name of several words, such as "sogou web spider", or a name that differs from
// another by case.
type Phrase struct {
	Text    string // Text is in lower case.
	Exact   string // Exact is the only valid spelling, or "" if case does not matter.
	Crawler int16
}

// CrawlerName is a token or alias of a crawler. Crawler is the index of the crawler in the
// registry.
type CrawlerName struct {
	Name    string
	Crawler int
	Exact   bool // Exact is true for a name that is valid in this spelling only.
}

// FirstWord returns the word at the start of s, or "" if s does not start with a letter or digit.
func FirstWord(s string) string {
	if s == "" || !IsAlnum(s[0]) {
		return ""
	}
	i := 1
	for i < len(s) {
		if f := Fold[s[i]]; f == Gap || f == Dot && (i+1 >= len(s) || Fold[s[i+1]] <= Dot) {
			break
		}
		i++
	}
	return s[:i]
}

// IsAlnum reports whether a word may start with c.
func IsAlnum(c byte) bool { f := Fold[c]; return f >= '0' && f <= '9' || f&Letter != 0 }

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return c-'0' <= 9 }

// IsHex reports whether c is a hexadecimal digit.
func IsHex(c byte) bool { return IsDigit(c) || (c|0x20)-'a' < 6 }

// BuildKeys returns the keys for the words of v and for names, without duplicates. The first
// numBrowserOnly keys are words of browsers that begin no name.
func BuildKeys(v Vocabulary, names []CrawlerName) (keys []Key, numBrowserOnly int, err error) {
	byText := map[string]*Key{}
	key := func(word string) *Key {
		text := strings.ToLower(word)
		if byText[text] == nil {
			byText[text] = &Key{Text: text, Crawler: -1}
		}
		return byText[text]
	}
	for kind, list := range map[Kind][]string{
		Browser: v.Browser, Like: v.Like, Compatible: v.Compatible, Device: v.Device, Generic: v.Generic, Tool: v.Tool,
	} {
		for _, word := range list {
			if FirstWord(word) != word {
				return nil, 0, fmt.Errorf("words.json: %q is not one word; split the string", word)
			}
			k := key(word)
			if k.Kind != Unknown {
				return nil, 0, fmt.Errorf("words.json: %q is in two lists; remove one", word)
			}
			k.Kind = kind
		}
	}
	for _, n := range names {
		first := FirstWord(n.Name)
		if first == "" {
			return nil, 0, fmt.Errorf("crawler name %q does not begin with a letter or digit", n.Name)
		}
		k := key(first)
		switch {
		case n.Exact:
			k.Phrases = append(k.Phrases, Phrase{Text: strings.ToLower(n.Name), Exact: n.Name, Crawler: int16(n.Crawler)})
		case first != n.Name:
			k.Phrases = append(k.Phrases, Phrase{Text: strings.ToLower(n.Name), Crawler: int16(n.Crawler)})
		case k.Kind != Unknown:
			return nil, 0, fmt.Errorf("crawler name %q is in words.json or in two registry entries; remove one", n.Name)
		default:
			k.Kind, k.Crawler = Name, int16(n.Crawler)
		}
	}
	for _, word := range v.Ambiguous {
		if k := byText[strings.ToLower(word)]; k != nil && k.Kind == Name {
			k.Ambiguous = true
		}
	}
	for _, k := range byText {
		slices.SortFunc(k.Phrases, func(a, b Phrase) int {
			return cmp.Or(len(b.Text)-len(a.Text), strings.Compare(a.Text, b.Text), strings.Compare(b.Exact, a.Exact))
		})
		keys = append(keys, *k)
	}
	browserOnly := func(k Key) int {
		if k.Kind == Browser && len(k.Phrases) == 0 {
			return 0
		}
		return 1
	}
	slices.SortFunc(keys, func(a, b Key) int {
		return cmp.Or(browserOnly(a)-browserOnly(b), strings.Compare(a.Text, b.Text))
	})
	for numBrowserOnly < len(keys) && browserOnly(keys[numBrowserOnly]) == 0 {
		numBrowserOnly++
	}
	if len(keys) > MaxKeys {
		return nil, 0, fmt.Errorf("%d words and names exceed the maximum of %d; increase IndexBits and SlotBits", len(keys), MaxKeys)
	}
	return keys, numBrowserOnly, nil
}
