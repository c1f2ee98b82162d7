package lint

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

const keyPattern = `(?i:user-?agent|allow|disallow|crawl-?delay|sitemap|host|noindex|request-rate|visit-time|content-signal|content-usage)`

var (
	// joinedKeyRegexp matches a second key, after a value in the same line. The key must precede a colon
	// or a path.
	joinedKeyRegexp = regexp.MustCompile(`(?:^|[ \t;,|*>]|%0[Aa])(` + keyPattern + `)[ \t]*:|[ \t;,|*>]((?i:allow|disallow))[ \t]+[/*]|((?i:user-?agent|disallow))[ \t]*:`)
	// twoKeysRegexp matches the text before the first colon of a line if the text begins and ends
	// with a key, as in "Disallow /a Allow: /b".
	twoKeysRegexp = regexp.MustCompile(`^(?i:user-?agent|allow|disallow)[ \t].*[ \t*](` + keyPattern + `)$`)
	// escapedBreakRegexp matches a line break or tab that is written as a backslash and a letter. It must
	// precede a key, a comment or the end of the line, or follow a colon.
	escapedBreakRegexp = regexp.MustCompile(`(?:\\[nrt])+[ \t]*(?:` + keyPattern + `[ \t]*:|#|$)|:[ \t]*\\[nrt]`)
	// escapedBreakInNameRegexp matches a line break in a name that is written as a backslash and a letter.
	escapedBreakInNameRegexp = regexp.MustCompile(`\\[nr]`)
	// regexpSyntaxInName matches syntax of regular expressions that is not in any crawler's name.
	regexpSyntaxInName = regexp.MustCompile(`\\|\.[*+]|\[[^\]]*\]|\?|\{[0-9,]+\}|^[\^~/]|\$$|\([^)]*\|[^)]*\)|^\(.*\)[*+]?$`)
)

// checkLines adds findings about lines that crawlers read otherwise than people: joined lines,
// written line breaks, and keys with characters that only look like ASCII.
func (c *checker) checkLines() {
	for i := range c.lines.len() {
		l := c.lines.lineByIndex(i)
		c.checkKey(i+1, l)
		if at := findEscapedLineBreak(l); at >= 0 {
			c.addFinding(EscapedLineBreak, i+1, columnAfterText(l.raw[:at]), "%s is a backslash and a letter and does not end the line; in a Caddyfile write the file in backticks or as a heredoc, because double quotes keep the backslash",
				quoteExcerpt(l.raw[at:at+2]))
			continue
		}
		if key := toASCII(l.key); key != l.key && isKnownKey(key) {
			c.addFinding(LookAlikeCharacters, i+1, l.keyColumn(), "%s has characters that only look like %s, so crawlers skip the line; write %s", quoteExcerpt(l.key), key, key)
		}
		if m := twoKeysRegexp.FindStringSubmatchIndex(l.key); m != nil {
			c.addFinding(JoinedLines, i+1, columnAfterText(l.raw[:l.keyOffset+m[2]]), "%s is part of the key, but each line has a single key and value; begin a new line before this word", quoteExcerpt(l.key[m[2]:]))
		} else if at := findJoinedKey(l.value); at >= 0 && isKnownKey(toASCII(l.key)) {
			c.addFinding(JoinedLines, i+1, columnAfterText(l.raw[:l.valueOffset+at]), "%s is part of the value of %s, but each line has a single key and value; begin a new line before this word",
				quoteExcerpt(l.value[at:]), l.key)
		}
	}
}

// findJoinedKey returns the offset of a second key in the value of a line, or -1. An example is "/a
// Disallow: /b".
func findJoinedKey(value string) int {
	for i, at := range joinedKeyRegexp.FindStringSubmatchIndex(value) {
		if i > 1 && at >= 0 {
			return at
		}
	}
	return -1
}

// findEscapedLineBreak returns the offset of a line break that is written as a backslash and a
// letter, or -1.
func findEscapedLineBreak(l line) int {
	at := escapedBreakRegexp.FindStringIndex(l.raw)
	if at == nil && strings.EqualFold(l.key, "User-agent") {
		at = escapedBreakInNameRegexp.FindStringIndex(l.raw)
	}
	if at == nil {
		return -1
	}
	return at[0] + strings.IndexByte(l.raw[at[0]:], '\\')
}

// isKnownKey reports whether a key, in any case, is User-agent, Allow, Disallow, Crawl-delay or
// Sitemap.
func isKnownKey(key string) bool {
	switch strings.ToLower(key) {
	case "user-agent", "useragent", "allow", "disallow", "crawl-delay", "sitemap":
		return true
	}
	return false
}

// checkSpelling adds a finding for a name with characters that no crawler's name has. checkSpelling
// reports whether the name is invalid.
func (c *checker) checkSpelling(a policy.Agent) bool {
	switch plain := asciiName(a.Name); {
	case findEscapedLineBreak(c.lines.lineByIndex(a.Line-1)) >= 0, findJoinedKey(a.Name) >= 0:
		// The method checkLines reports this mistake.
	case plain != "" && plain != a.Name && isASCII(plain):
		c.addValueFinding(LookAlikeCharacters, a.Line, "%s has characters that only look like those of %s; crawlers compare bytes and may read another name; write %s", quoteExcerpt(a.Name), quoteExcerpt(plain), quoteExcerpt(plain))
	case regexpSyntaxInName.MatchString(a.Name):
		c.addValueFinding(RegexpInName, a.Line, "%s is compared literally, because a name is not a regular expression; write the product token of each crawler in a user-agent line of its own", quoteExcerpt(a.Name))
	case strings.ContainsAny(a.Name, "|;") && !strings.Contains(a.Name, "("):
		// A value with a parenthesis is a whole User-Agent.
		c.addValueFinding(policy.SeveralAgentNames, a.Line, "a user-agent line has only one name, and %s is not a name; write each name in its own user-agent line", quoteExcerpt(a.Name))
	default:
		return false
	}
	return true
}

// checkDoubleSlash adds a finding for a rule with // in its path, because links rarely have //.
func (c *checker) checkDoubleSlash(number int, l line) {
	path, _, _ := strings.Cut(l.value, "?")
	i := strings.Index(path, "//")
	if i < 0 || i > 0 && path[i-1] == ':' { // The value is a URL.
		return
	}
	plain := doubleSlashes.ReplaceAllString(path, "/") + l.value[len(path):]
	c.addValueFinding(DoubleSlash, number, "%s matches only URLs with // in them, and links have one slash; write %s", quoteExcerpt(l.value), quoteExcerpt(plain))
}

var doubleSlashes = regexp.MustCompile(`//+`)

// asciiName replaces the characters of a name that look like ASCII. It also removes surrounding
// spaces and quotes, but returns an ASCII name unchanged.
func asciiName(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Trim(toASCII(s), " \"'")
}

// toASCII replaces characters that look like ASCII characters by these, removes invisible
// characters, and keeps other characters. If s has characters outside ASCII, each byte of invalid
// UTF-8 becomes U+FFFD.
func toASCII(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case '\uff01' <= r && r <= '\uff5e': // These are full-width forms of ASCII characters.
			return r - '\uff01' + '!'
		case strings.ContainsRune(hyphens, r):
			return '-'
		case strings.ContainsRune(invisible, r):
			return -1
		case strings.ContainsRune(spaces, r):
			return ' '
		case strings.ContainsRune(doubleQuotes, r):
			return '"'
		case strings.ContainsRune(singleQuotes, r):
			return '\''
		}
		if plain, ok := lookAlikes[r]; ok {
			return plain
		}
		return r
	}, s)
}

// These characters look like others, according to Unicode's confusables.txt.
const (
	hyphens      = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\u02d7\ufe58\ufe63\u058a\u2cba"
	invisible    = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\u180e\ufeff"
	spaces       = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
	doubleQuotes = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u301d\u301e"
	singleQuotes = "\u2018\u2019\u201a\u201b\u2039\u203a\u2032"
)

// lookAlikes maps letters of other scripts to similar Latin letters.
var lookAlikes = mapRunes(
	"АВЕЗКМНОРСТУХЅІЈҮԌԚԜаеорсухѕіјһԁԛԝґѵҽӏ", "ABE3KMHOPCTYXSIJYGQWaeopcyxsijhdqwrvel",
	"ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϳανιορτυκχϲ", "ABEZHIKMNOPTYXCjavioptukxc",
	"ıɡℓⅼⅽⅾⅿⅰⅴⅹ", "igllcdmivx",
)

// mapRunes takes pairs of strings. It maps each letter of the first string to the ASCII letter at
// the same position of the second.
func mapRunes(letterPairs ...string) map[rune]rune {
	m := make(map[rune]rune)
	for i := 0; i < len(letterPairs); i += 2 {
		plain := letterPairs[i+1]
		n := 0
		for _, r := range letterPairs[i] {
			m[r] = rune(plain[n])
			n++
		}
	}
	return m
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
