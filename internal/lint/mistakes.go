package lint

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

const keyPattern = `(?i:user-?agent|allow|disallow|crawl-?delay|sitemap|host|noindex|request-rate|visit-time|content-signal|content-usage)`

var (
	// joinedKey matches a key after a value in the same line. The key must have a colon, or precede
	// a path.
	joinedKey = regexp.MustCompile(`(?:^|[ \t;,|*>]|%0[Aa])(` + keyPattern + `)[ \t]*:|[ \t;,|*>]((?i:allow|disallow))[ \t]+[/*]|((?i:user-?agent|disallow))[ \t]*:`)
	// keyOfTwo matches two keys before the first colon.
	keyOfTwo = regexp.MustCompile(`^(?i:user-?agent|allow|disallow)[ \t].*[ \t*](` + keyPattern + `)$`)
	// writtenBreak matches a line break or tab that is written as a backslash and a letter. It must
	// precede a key, a comment or the end of the line, or follow a colon.
	writtenBreak = regexp.MustCompile(`(?:\\[nrt])+[ \t]*(?:` + keyPattern + `[ \t]*:|#|$)|:[ \t]*\\[nrt]`)
	// writtenInName matches a written line break in a name.
	writtenInName = regexp.MustCompile(`\\[nr]`)
	// regexpName matches syntax of regular expressions that is not in any crawler's name.
	regexpName = regexp.MustCompile(`\\|\.[*+]|\[[^\]]*\]|\?|\{[0-9,]+\}|^[\^~/]|\$$|\([^)]*\|[^)]*\)|^\(.*\)[*+]?$`)
)

// checkLines finds lines that crawlers and people read differently.
func (c *checker) checkLines() {
	for i := range c.lines.len() {
		l := c.lines.at(i)
		c.checkKey(i+1, l)
		if at := writtenBreakAt(l); at >= 0 {
			c.add(WrittenBreak, i+1, columnAfter(l.raw[:at]), "%s is a backslash and a letter and does not end the line; in a Caddyfile write the file in backticks or as a heredoc, because double quotes keep the backslash",
				quoted(l.raw[at:at+2]))
			continue
		}
		if key := toASCII(l.key); key != l.key && isKnownKey(key) {
			c.add(LookAlike, i+1, l.keyColumn(), "%s has characters that only look like %s, so crawlers skip the line; write %s", quoted(l.key), key, key)
		}
		if m := keyOfTwo.FindStringSubmatchIndex(l.key); m != nil {
			c.add(LinesJoined, i+1, l.keyColumn()+m[2], "%s is part of the key, but each line has a single key and value; begin a new line before this word", quoted(l.key[m[2]:]))
		} else if at := joinedLineAt(l.value); at >= 0 && isKnownKey(toASCII(l.key)) {
			c.add(LinesJoined, i+1, columnAfter(l.raw[:l.valueAt+at]), "%s is part of the value of %s, but each line has a single key and value; begin a new line before this word",
				quoted(l.value[at:]), l.key)
		}
	}
}

// joinedLineAt returns the offset of another key in a value, or -1.
func joinedLineAt(value string) int {
	for i, at := range joinedKey.FindStringSubmatchIndex(value) {
		if i > 1 && at >= 0 {
			return at
		}
	}
	return -1
}

// writtenBreakAt returns the offset of a written line break in a line, or -1.
func writtenBreakAt(l line) int {
	at := writtenBreak.FindStringIndex(l.raw)
	if at == nil && strings.EqualFold(l.key, "User-agent") {
		at = writtenInName.FindStringIndex(l.raw)
	}
	if at == nil {
		return -1
	}
	return at[0] + strings.IndexByte(l.raw[at[0]:], '\\')
}

// isKnownKey reports whether a key has a meaning in a robots.txt.
func isKnownKey(key string) bool {
	switch strings.ToLower(key) {
	case "user-agent", "useragent", "allow", "disallow", "crawl-delay", "sitemap":
		return true
	}
	return false
}

// checkSpelling adds a finding for a name that no crawler can have. It reports whether the name is
// invalid.
func (c *checker) checkSpelling(a policy.Agent) bool {
	switch plain := asciiName(a.Name); {
	case writtenBreakAt(c.lines.at(a.Line-1)) >= 0, joinedLineAt(a.Name) >= 0: // see checkLines
	case plain != "" && plain != a.Name && isASCII(plain):
		c.addValue(LookAlike, a.Line, "%s has characters that only look like those of %s; crawlers compare bytes and may read another name; write %s", quoted(a.Name), quoted(plain), quoted(plain))
	case regexpName.MatchString(a.Name):
		c.addValue(RegexpInName, a.Line, "%s is compared literally, because a name is not a regular expression; write the product token of each crawler in a user-agent line of its own", quoted(a.Name))
	case strings.ContainsAny(a.Name, "|;") && !strings.Contains(a.Name, "("): // not a whole User-Agent
		c.addValue(policy.NameList, a.Line, "a user-agent line has only one name, and %s is not a name; write each name in its own user-agent line", quoted(a.Name))
	default:
		return false
	}
	return true
}

// checkSlashes finds a rule with a doubled slash in its path. The rule matches only URLs with a
// doubled slash.
func (c *checker) checkSlashes(number int, l line) {
	path, _, _ := strings.Cut(l.value, "?")
	i := strings.Index(path, "//")
	if i < 0 || i > 0 && path[i-1] == ':' { // a URL
		return
	}
	plain := doubleSlashes.ReplaceAllString(path, "/") + l.value[len(path):]
	c.addValue(DoubleSlash, number, "%s matches only URLs with // in them, and links have one slash; write %s", quoted(l.value), quoted(plain))
}

var doubleSlashes = regexp.MustCompile(`//+`)

// asciiName returns the ASCII name for a look-alike name, without surrounding spaces and quotes. An
// ASCII name stays unchanged.
func asciiName(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Trim(toASCII(s), " \"'")
}

// toASCII replaces characters that look like ASCII, and removes invisible characters. Invalid UTF-8
// stays unchanged.
func toASCII(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case '\uff01' <= r && r <= '\uff5e': // full width
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
var lookAlikes = runePairs(
	"АВЕЗКМНОРСТУХЅІЈҮԌԚԜаеорсухѕіјһԁԛԝґѵҽӏ", "ABE3KMHOPCTYXSIJYGQWaeopcyxsijhdqwrvel",
	"ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϳανιορτυκχϲ", "ABEZHIKMNOPTYXCjavioptukxc",
	"ıɡℓⅼⅽⅾⅿⅰⅴⅹ", "igllcdmivx",
)

// runePairs maps each letter of a string to the letter at the same position in the next string.
func runePairs(texts ...string) map[rune]rune {
	m := make(map[rune]rune)
	for i := 0; i < len(texts); i += 2 {
		plain := texts[i+1]
		n := 0
		for _, r := range texts[i] {
			m[r] = rune(plain[n])
			n++
		}
	}
	return m
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
