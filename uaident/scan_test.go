package uaident

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// splitSlowly is a simple implementation of parsedUserAgent.splitWords. splitSlowly returns the words in
// order, without words of browsers, marks, numbers and versions. A contact is one word.
func splitSlowly(r *Registry, ua string) []string {
	if len(ua) > maxUserAgentBytes {
		ua = ua[:maxUserAgentBytes]
	}
	var found []string
	for i := 0; i < len(ua); {
		if m := escapeRE.FindString(ua[i:]); m != "" {
			i += len(m)
			continue
		}
		w := wordRE.FindString(ua[i:])
		if w == "" {
			i++
			continue
		}
		end := i + len(w)
		if contact := contactSlowly(ua[i:], w); contact != "" && !isBrowserWordSlowly(r, w) {
			found = append(found, contact)
			i += len(contact)
			continue
		}
		if hasNameWord(r, w) {
			found = append(found, w)
		}
		i = end + len(versionRE.FindString(ua[end:]))
	}
	return found[:min(len(found), maxWords)]
}

var (
	wordRE    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_!-]*(?:\.[A-Za-z0-9_!-]+)*`)
	escapeRE  = regexp.MustCompile(`^%[0-9A-Fa-f]{2}`)
	versionRE = regexp.MustCompile(`^/[0-9][A-Za-z0-9_!.-]*`)
	tagRE     = regexp.MustCompile(`^\+(?:[A-Za-z0-9][A-Za-z0-9_!-]*(?:\.[A-Za-z0-9_!-]+)*)?@`)
	wwwRE     = regexp.MustCompile(`^(?i:www)\..`)
	hostRE    = regexp.MustCompile(`[A-Za-z].*\.[A-Za-z]`)
	restRE    = regexp.MustCompile(`^[^] ();,"'<>[\t]*`)
)

// contactSlowly returns the contact that begins with the word w at the start of
// ua, or "".
func contactSlowly(ua, w string) string {
	rest := ua[len(w):]
	host, mail := strings.CutPrefix(tagRE.ReplaceAllString(rest, "@"), "@")
	switch {
	case strings.HasPrefix(rest, "://") && isASCII(w) && (strings.EqualFold(w, "http") || strings.EqualFold(w, "https")):
	case mail && hostRE.MatchString(wordRE.FindString(host)):
	case wwwRE.MatchString(w):
	default:
		return ""
	}
	return w + restRE.FindString(rest)
}

func kindSlowly(r *Registry, w string) (words.Kind, bool) {
	for i := range r.keys {
		if k := &r.keys[i]; strings.EqualFold(k.Text, w) && isASCII(w) {
			return k.Kind, true
		}
	}
	return words.Unknown, false
}

func isASCII(s string) bool { return len(s) == utf8.RuneCountInString(s) }

func isBrowserWordSlowly(r *Registry, w string) bool {
	k, _ := kindSlowly(r, w)
	return k == words.Browser
}

func hasNameWord(r *Registry, w string) bool {
	k, isKey := kindSlowly(r, w)
	switch k {
	case words.Like, words.Compatible, words.Device:
		return false
	case words.Browser:
		i := slices.IndexFunc(r.keys, func(k words.Key) bool { return strings.EqualFold(k.Text, w) })
		return len(r.keys[i].Phrases) > 0
	case words.Unknown:
		return isKey || strings.ContainsFunc(w, func(c rune) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' })
	}
	return true
}

func checkWords(t *testing.T, ua string) {
	var s parsedUserAgent
	s.splitWords(Default(), ua)
	var got []string
	for _, w := range s.words[:s.numWords] {
		got = append(got, s.wordText(&w))
	}
	if want := splitSlowly(Default(), ua); !slices.Equal(got, want) {
		t.Errorf("words of %q:\n%q, want\n%q", ua, got, want)
	}
}

func TestWords(t *testing.T) {
	everyUA(func(ua string) { checkWords(t, ua) })
	for _, ua := range []string{
		"a.b..c .d e.", "-a _b !c a-b_c!d", "foo/1.2.3bar-baz qux", "a@b.c x@1.2 a@b a+b@c.d a+@b.c a+b a+1@2.3 a+b@", "http://x https://y)z ftp://w",
		"www.example.com, www. wwww", "%20Foo%2FBar%zz", "Mozilla/5.0 (KHTML, like Gecko) AppleWebKit/537.36 (KHTML, like Gecko) X",
	} {
		checkWords(t, ua)
	}
}

func TestWordsOfTheLists(t *testing.T) {
	for _, name := range []string{"useragents-browsers.txt", "useragents-bots.tsv"} {
		for i, ua := range dataLines(t, name) {
			if ua, _, _ = strings.Cut(ua, "\t"); i%20 == 0 {
				checkWords(t, ua)
			}
		}
	}
}

// FuzzIdentify compares the words of random bytes with splitSlowly, and checks invariants of the
// identity.
func FuzzIdentify(f *testing.F) {
	everyUA(func(ua string) { f.Add(ua, "Zorbl") })
	f.Fuzz(func(t *testing.T, ua, name string) {
		checkWords(t, ua)
		o := Default().NewOverlay([]string{name})
		id := Default().IdentifyWithOverlay(ua, o)
		switch {
		case !strings.Contains(ua, id.Token):
			t.Errorf("%q: the token %q is not a substring", ua, id.Token)
		case (id.Token == "") != (id.Class == Browser) || (id.Token == "") != (id.Evidence == NoEvidence):
			t.Errorf("%q: token %q, class %s, by %s", ua, id.Token, id.Class, id.Evidence)
		case id != Default().IdentifyWithOverlay(ua, o):
			t.Errorf("%q: the second result differs", ua)
		case o == nil && id != Identify(ua):
			t.Errorf("%q: an empty overlay changes the result", ua)
		}
		for i, name := range id.AppendNames(nil) {
			if name == "" || i == 0 && name != id.Token {
				t.Errorf("%q: chain %q", ua, id.AppendNames(nil))
			}
		}
	})
}
