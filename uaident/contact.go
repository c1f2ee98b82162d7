package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// This file finds the URL or mail address of a crawler in its User-Agent, and decides whether
// the address is a robot's.

var urlSchemes = [...]string{"http", "https"}

// contactLength returns the length of the URL or mail address whose first word is ua[start:end].
// The result is 0 if the word does not begin an address.
func contactLength(ua string, start, end int) int {
	rest := ua[end:]
	switch {
	case len(rest) >= 3 && rest[0] == ':' && rest[1] == '/' && rest[2] == '/' && isOneOf(ua[start:end], urlSchemes[:]):
	case len(rest) > 1 && rest[0] == '@' && words.IsAlnum(rest[1]) && startsWithDomain(rest):
	case len(rest) > 1 && rest[0] == '+' && startsWithMailTag(rest[1:]):
	case end-start > 4 && hasFoldedPrefix(ua[start:end], "www."):
	default:
		return 0
	}
	for end < len(ua) && !isContactDelimiter[ua[end]] {
		end++
	}
	return end - start
}

// isContactDelimiter is true for each byte that ends a URL or mail address in a User-Agent.
var isContactDelimiter = [256]bool{
	' ': true, '\t': true, '(': true, ')': true, '[': true, ']': true, '<': true, '>': true, ';': true, ',': true, '"': true, '\'': true,
}

// startsWithMailTag reports whether s, the rest of the User-Agent after a plus sign, begins with
// the tag and domain of a mail address: "links@example.com" of "crawlers+links@example.com".
func startsWithMailTag(s string) bool {
	s = s[len(words.FirstWord(s)):]
	return len(s) > 1 && s[0] == '@' && words.IsAlnum(s[1]) && startsWithDomain(s)
}

// startsWithDomain reports whether a domain follows the first byte of s, which is an @ sign. The
// domain must have a letter before and after a dot. "8.3.0" in Ecosia's "ios@8.3.0" is not a
// domain.
func startsWithDomain(s string) bool {
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

// isRobotAddress reports whether contact is a robot's URL or mail address. The mailbox or the path
// must contain a word for a robot, or the first of at least three labels of the host must be a
// generic word for a robot: bot.acme.example. Addresses of services and URLs on codeHosts do not
// qualify.
func isRobotAddress(contact string) bool {
	if isServiceName(contact) {
		return false
	}
	if mailbox, _, ok := strings.Cut(contact, "@"); ok && !strings.Contains(mailbox, "/") {
		return containsRobotWord(mailbox)
	}
	host, path := splitURL(contact)
	if isCodeHost(host) {
		return false
	}
	if first, domain, _ := strings.Cut(host, "."); strings.Contains(domain, ".") && isGenericRobotWord(first) {
		return true
	}
	return containsRobotWord(path)
}

// hasRobotPath reports whether contact is a robot's URL in which a path element begins with a word
// for a robot, such as /bot, /crawler.html or /spider-info.
func hasRobotPath(contact string) bool {
	_, path := splitURL(contact)
	if strings.Contains(contact, "@") || !isRobotAddress(contact) {
		return false
	}
	for element := range strings.SplitSeq(path, "/") {
		end := 0
		for end < len(element) && words.Fold[element[end]]&words.Letter != 0 {
			end++
		}
		if isOneOf(element[:end], robotPathWords[:]) {
			return true
		}
	}
	return false
}

// splitURL returns the host and path of a URL with or without a scheme.
func splitURL(contact string) (host, path string) {
	_, rest, ok := strings.Cut(contact, "://")
	if !ok {
		rest = contact
	}
	host, path, _ = strings.Cut(rest, "/")
	return host, path
}

// isSourceCodeURL reports whether contact is the URL of a program's source code. A URL with a word
// for a robot in its path belongs to the robot instead, unless the path is a service's name.
func isSourceCodeURL(contact string) bool {
	host, path := splitURL(contact)
	return isCodeHost(host) && (!containsRobotWord(path) || isServiceName(path))
}

// codeHosts host the source code of programs. A URL on such a host identifies a program that many
// people run, not an operator.
var codeHosts = [...]string{"github.com", "gitlab.com", "codeberg.org", "bitbucket.org"}

// isCodeHost reports whether host is one of codeHosts, ignoring www. and the port.
func isCodeHost(host string) bool { return isOneOf(trimWWWAndPort(host), codeHosts[:]) }

// containsRobotWord reports whether a path or mailbox contains a word for a robot. Such a word
// begins with the part bot (bot-info, but not bottle), is spelled like a robot's name, or contains
// crawl, robot or spider.
func containsRobotWord(pathOrMailbox string) bool {
	for i := 0; i < len(pathOrMailbox); {
		w := words.FirstWord(pathOrMailbox[i:])
		if w == "" {
			i++
			continue
		}
		i += len(w)
		if looksLikeRobot(w) || hasFoldedPrefix(w, "bot") && isPartEnd(w, len("bot")) || robotAddressWords.occursIn(w) {
			return true
		}
	}
	return false
}
