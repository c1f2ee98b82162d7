package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// This file finds the URL or mail address of a crawler in its User-Agent, and decides whether
// the address is a robot's.

var schemes = [...]string{"http", "https"}

// contactLength returns the length of the URL or mail address that begins with the word
// ua[start:end], or 0.
func contactLength(ua string, start, end int) int {
	rest := ua[end:]
	switch {
	case len(rest) >= 3 && rest[0] == ':' && rest[1] == '/' && rest[2] == '/' && isOneOf(ua[start:end], schemes[:]):
	case len(rest) > 1 && rest[0] == '@' && words.IsAlnum(rest[1]) && startsWithDomain(rest):
	case len(rest) > 1 && rest[0] == '+' && isMailTag(rest[1:]):
	case end-start > 4 && hasFoldedPrefix(ua[start:end], "www."):
	default:
		return 0
	}
	for end < len(ua) && !endsContact[ua[end]] {
		end++
	}
	return end - start
}

// endsContact holds true for each byte that cannot be part of a URL or mail address in a
// User-Agent.
var endsContact = [256]bool{
	' ': true, '\t': true, '(': true, ')': true, '[': true, ']': true, '<': true, '>': true, ';': true, ',': true, '"': true, '\'': true,
}

// isMailTag reports whether s, the text after a plus sign, begins with the tag and domain of a mail
// address: "links@example.com" of "crawlers+links@example.com".
func isMailTag(s string) bool {
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

// isRobotAddress reports whether a URL or mail address belongs to a robot: its path, its mailbox or
// the first label of its host contains a word for a robot. Addresses of services and of source code
// do not belong to a robot.
func isRobotAddress(contact string) bool {
	if isServiceName(contact) {
		return false
	}
	if mailbox, _, ok := strings.Cut(contact, "@"); ok && !strings.Contains(mailbox, "/") {
		return hasRobotWord(mailbox)
	}
	host, path := splitURL(contact)
	if isCodeHost(host) {
		return false
	}
	if first, domain, _ := strings.Cut(host, "."); strings.Contains(domain, ".") && isGenericRobotWord(first) {
		return true
	}
	return hasRobotWord(path)
}

// hasRobotPath reports whether contact is a robot's URL in which a path element begins with a word
// for a robot, such as /bot, /crawler.html or /spider-info.
func hasRobotPath(contact string) bool {
	_, path := splitURL(contact)
	if strings.Contains(contact, "@") || !isRobotAddress(contact) {
		return false
	}
	for part := range strings.SplitSeq(path, "/") {
		end := 0
		for end < len(part) && words.Fold[part[end]]&words.Letter != 0 {
			end++
		}
		if isOneOf(part[:end], robotPathWords[:]) {
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

// isSourceCodeURL reports whether a URL leads to the source code of a program, and its path
// contains no word for a robot.
func isSourceCodeURL(contact string) bool {
	host, path := splitURL(contact)
	return isCodeHost(host) && (!hasRobotWord(path) || isServiceName(path))
}

// codeHosts host the source code of programs. A URL on such a host identifies a program that many
// people run, not an operator.
var codeHosts = [...]string{"github.com", "gitlab.com", "codeberg.org", "bitbucket.org"}

// isCodeHost reports whether host is one of codeHosts, ignoring www. and the port.
func isCodeHost(host string) bool { return isOneOf(trimHost(host), codeHosts[:]) }

// hasRobotWord reports whether a word in a path or mailbox begins with bot, is spelled like a
// robot's name, or contains crawl, robot or spider.
func hasRobotWord(text string) bool {
	for i := 0; i < len(text); {
		w := words.FirstWord(text[i:])
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
