package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "Disallow: /a?b=c d~", "Disallow: /a?b=c d~"},
		{"other scripts", "/ünï/日本/😀/e\u0301", "/ünï/日本/😀/e\u0301"},
		{"an escape sequence", "\x1b[31mx\x1b]0;title\x07", "?[31mx?]0;title?"},
		{"a C1 escape sequence", "\u009b31m", "?31m"},
		{"line breaks", "a\r\nb\u2028c\u2029d\ve\f", "a??b?c?d?e?"},
		{"tabs", "a\tb", "a?b"},
		{"NUL and DEL", "\x00\x7f", "??"},
		{"direction marks", "a\u202eb\u2066c\u200fd\u061c", "a?b?c?d?"},
		{"invisible characters", "a\u200bb\u00adc\ufeffd\U000e0041", "a?b?c?d?"},
		{"other spaces", "a\u00a0b\u3000c", "a?b?c"},
		{"private use, unassigned, noncharacter", "\ue000\U0010ffff\ufdd0", "???"},
		{"invalid UTF-8", "a\xffb\xfe\xfdc", "a?b?c"},
		{"a cut character", "a\xe6\x97", "a?"},
		{"a surrogate", "a\xed\xa0\x80b", "a?b"},
		{"the replacement character", "a\ufffdb", "a\ufffdb"},
	} {
		if got := Printable(tc.in); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestTruncate(t *testing.T) {
	for _, tc := range []struct {
		in   string
		most int
		want string
	}{
		{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "…"}, {"abcde", 4, "a…"}, {"日本語", 9, "日本語"},
		{"日本語", 8, "日…"}, {"日本語", 6, "日…"}, {"日本語", 5, "…"}, {"a\xff", 5, "a\xff"},
	} {
		if got := Truncate(tc.in, tc.most); got != tc.want {
			t.Errorf("%q to %d bytes is %q, want %q", tc.in, tc.most, got, tc.want)
		}
	}
}

func TestAbbreviate(t *testing.T) {
	for _, tc := range []struct {
		in   string
		most int
		want string
	}{
		{"", 1, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語", 3, "日本語"}, {"日本語だ", 3, "日本…"}, {"\xff\xff\xff", 2, "\xff…"},
	} {
		if got := Abbreviate(tc.in, tc.most); got != tc.want {
			t.Errorf("%q to %d characters is %q, want %q", tc.in, tc.most, got, tc.want)
		}
	}
}

func TestQuote(t *testing.T) {
	for _, tc := range []struct {
		in   string
		most int
		want string
	}{
		{"", 1, `""`}, {"a\"\x1b\xff", 4, `"a\"\x1b\xff"`}, {"abcd", 3, `"abc"…`}, {"日本語", 3, `"日本語"`}, {"日本語だ", 3, `"日本語"…`},
	} {
		if got := Quote(tc.in, tc.most); got != tc.want {
			t.Errorf("%q to %d characters is %s, want %s", tc.in, tc.most, got, tc.want)
		}
	}
}

// FuzzText checks that the output is one line of printable characters with at most the given
// length.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "plain", "\x1b[2J\xff\u202e", "日本\xe6\x97", strings.Repeat("é", 40)} {
		f.Add(seed, 10)
	}
	f.Fuzz(func(t *testing.T, s string, most int) {
		most = 3 + max(0, most)%100
		printed := Printable(s)
		if !utf8.ValidString(printed) || strings.ContainsFunc(printed, func(c rune) bool {
			return !unicode.IsPrint(c) || unicode.Is(unicode.C, c) || unicode.Is(unicode.Bidi_Control, c)
		}) {
			t.Errorf("Printable(%q) = %q", s, printed)
		}
		if Printable(printed) != printed {
			t.Errorf("Printable changes its own output %q", printed)
		}
		if len(Truncate(s, most)) > most || len(s) <= most && Truncate(s, most) != s || utf8.ValidString(s) && !utf8.ValidString(Truncate(s, most)) {
			t.Errorf("%q to %d bytes is %q", s, most, Truncate(s, most))
		}
		if short := Abbreviate(s, most); utf8.RuneCountInString(short) > most || utf8.RuneCountInString(s) <= most && short != s {
			t.Errorf("%q to %d characters is %q", s, most, short)
		}
		if quote := Quote(s, most); Printable(quote) != quote || strings.HasSuffix(quote, "…") != (utf8.RuneCountInString(s) > most) {
			t.Errorf("%q to %d characters is %s", s, most, quote)
		}
	})
}
