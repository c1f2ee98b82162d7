package policy

import "strings"

// NameMatches reports whether the value of a user-agent line names the product token. The name must
// start with the token, without regard to case. The next byte, if any, must not be a part of a
// token. "Googlebot", "googlebot/2.1", "Googlebot*" and "Googlebot Images" name Googlebot.
// "Googlebot-Image" and "Google" do not. A name that is empty or starts with a star names no token.
// A * inside a name is not a wildcard.
//
// RFC 9309 section 2.2.1 compares the longest token of [A-Za-z_-]. Real files and crawlers also use
// digits, dots and spaces (MJ12bot, archive.org_bot, "Sogou web spider"), which the RFC's rule
// would cut or ignore.
func NameMatches(name, token string) bool {
	if token == "" || token[0] == '*' || len(name) < len(token) || !hasPrefixFold(name, token) {
		return false
	}
	return len(name) == len(token) || !isTokenByte(name[len(token)])
}

// hasPrefixFold reports whether name starts with other, without regard to case. name must be at
// least as long as other.
func hasPrefixFold(name, other string) bool {
	for i := range len(other) {
		if lowerASCII(name[i]) != lowerASCII(other[i]) {
			return false
		}
	}
	return true
}

// toLowerASCII returns a name with its ASCII letters in lower case.
func toLowerASCII(name string) string {
	b := []byte(name)
	for i, c := range b {
		b[i] = lowerASCII(c)
	}
	return string(b)
}

// isWildcardName reports whether the name in a user-agent line is *, alone or followed by white
// space. The group then applies to all crawlers without a group of their own.
func isWildcardName(name string) bool {
	return strings.HasPrefix(name, "*") && (len(name) == 1 || isSpace(name[1]))
}

// isTokenByte reports whether c can be part of a product token in a user-agent line.
func isTokenByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '_' || c == '.' || c == '-'
}

// tokenLength returns the number of token bytes at the start of s. A name that matches a product
// token starts with as many token bytes as the token.
func tokenLength[T string | []byte](s T) int {
	for i := range len(s) {
		if !isTokenByte(s[i]) {
			return i
		}
	}
	return len(s)
}

// isSpace reports whether c is a space or a tab, which are the white space within a line (RFC 9309
// section 2.2, WS).
func isSpace(c byte) bool { return c == ' ' || c == '\t' }
