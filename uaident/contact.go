package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// Crawlers tell in their User-Agent where to read about them, or whom to write to. These
// functions find such a URL or mail address, and tell whether it says robot.

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

// saysRobot reports whether a URL or mail address is a robot's by what it says:
// a part of the path that is "bot" or begins with it, or a word such as crawler
// anywhere in the path, in the name of the host before its domain, or before the
// @ sign.
func saysRobot(contact string) bool {
	if servesSomebody(contact) {
		return false
	}
	if mailbox, _, ok := strings.Cut(contact, "@"); ok && !strings.Contains(mailbox, "/") {
		return addressSays(mailbox)
	}
	host, path := splitAddress(contact)
	if isOneOf(host, codeHosts[:]) {
		return false
	}
	if first, domain, _ := strings.Cut(host, "."); strings.Contains(domain, ".") && isGeneric(first) {
		return true
	}
	return addressSays(path)
}

// robotPaths are what a part of a path is called where a robot is described.
var robotPaths = [...]string{"bot", "bots", "crawl", "crawler", "crawlers", "spider", "spiders", "robot", "robots"}

// pathSaysRobot reports whether a part of a URL's path says robot and no more, such as /bot,
// /crawler.html or /spider-info.
func pathSaysRobot(contact string) bool {
	_, path := splitAddress(contact)
	if strings.Contains(contact, "@") || !saysRobot(contact) {
		return false
	}
	for part := range strings.SplitSeq(path, "/") {
		end := 0
		for end < len(part) && words.Fold[part[end]]&words.Letter != 0 {
			end++
		}
		if isOneOf(part[:end], robotPaths[:]) {
			return true
		}
	}
	return false
}

// splitAddress returns the host of a URL, which may have no scheme, and its path.
func splitAddress(contact string) (host, path string) {
	_, rest, ok := strings.Cut(contact, "://")
	if !ok {
		rest = contact
	}
	host, path, _ = strings.Cut(rest, "/")
	return host, path
}

// namesProgram reports whether a URL leads to the source of a program that is not called a
// robot there.
func namesProgram(contact string) bool {
	host, path := splitAddress(contact)
	return isOneOf(host, codeHosts[:]) && (!addressSays(path) || servesSomebody(path))
}

// codeHosts are where programs keep their source: an address there says what a
// program is called, and nothing of who runs it.
var codeHosts = [...]string{"github.com", "gitlab.com", "codeberg.org", "bitbucket.org"}

// addressSays reports whether a word in a part of an address says robot: one
// that begins with bot or ends like a robot's name, or crawl, robot or spider
// anywhere in it.
func addressSays(text string) bool {
	for i := 0; i < len(text); {
		w := words.FirstWord(text[i:])
		if w == "" {
			i++
			continue
		}
		i += len(w)
		if robotLike(w) || hasFoldedPrefix(w, "bot") && partEnds(w, len("bot")) || containsPart(w, robotWords) {
			return true
		}
	}
	return false
}
