package uaident

import "github.com/robotsguard/caddy-robots-guard/uaident/internal/words"

// Crawlers tell in their User-Agent where to read about them, or whom to write to. These
// functions find such a URL or mail address.

var schemes = [...]string{"http", "https"}

// contactLength returns how long the URL or mail address is that begins with
// the word ua[start:end], or 0 if there is none.
func contactLength(ua string, start, end int) int {
	rest := ua[end:]
	switch {
	case len(rest) >= 3 && rest[0] == ':' && rest[1] == '/' && rest[2] == '/' && isOneOf(ua[start:end], schemes[:]):
	case len(rest) > 1 && rest[0] == '@' && words.Alnum(rest[1]) && hasDot(rest):
	case len(rest) > 1 && rest[0] == '+' && isTag(rest[1:]):
	case end-start > 4 && hasFoldedPrefix(ua[start:end], "www."):
	default:
		return 0
	}
	for end < len(ua) {
		switch ua[end] {
		case ' ', '(', ')', ';', ',', '"', '\'', '<', '>', '[', ']', '\t':
			return end - start
		}
		end++
	}
	return end - start
}

// isTag reports whether s begins with what may follow a plus sign in a mail address:
// "crawlers+links@example.com".
func isTag(s string) bool {
	s = s[len(words.FirstWord(s)):]
	return len(s) > 1 && s[0] == '@' && words.Alnum(s[1]) && hasDot(s)
}

// hasDot reports whether the word after the @ sign in s begins like a domain,
// with a letter before and after a dot; in Ecosia's "ios@8.3.0" it does not.
func hasDot(s string) bool {
	s = s[1:]
	host := words.FirstWord(s)
	letters := false
	for i := range len(host) {
		letters = letters || words.Fold[host[i]]&words.Letter != 0
		if host[i] == '.' && letters && words.Fold[host[i+1]]&words.Letter != 0 {
			return true
		}
	}
	return false
}
