package policy

import "slices"

// These are the classes of bytes in the canonical form (RFC 9309 section 2.2.2, RFC 3986 section
// 2). A byte with the same meaning raw and escaped has one canonical spelling.
const (
	byteReserved = iota // The byte is literal. Its escape is another URL.
	bytePlain           // The byte is literal. Its escape is the same URL.
	byteSlash           // The slash is literal. A target with // or /. has other variants.
	byteQuery           // The byte is literal. It starts the query.
	byteEscaped         // The byte is escaped as %XX, even if it is raw.
	bytePercent         // The byte starts an escape.
	byteStar            // The byte is an operator in a rule, and %2A in a target.
	byteDollar          // The byte is an operator at the end of a rule, and %24 anywhere else.
)

var byteClasses = func() (class [256]uint8) {
	for c := range class {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			class[c] = bytePlain
		case c <= ' ', c >= 0x7f:
			class[c] = byteEscaped
		}
	}
	for _, c := range []byte("-._~!'(),;:@") {
		class[c] = bytePlain
	}
	for _, c := range []byte("\"<>\\^{}|`#[]") {
		class[c] = byteEscaped
	}
	class['%'], class['*'], class['$'] = bytePercent, byteStar, byteDollar
	class['/'], class['?'] = byteSlash, byteQuery
	return class
}()

const upperHexDigits = "0123456789ABCDEF"

// writeEscape writes the escape %XX of the byte c into the first three bytes of dst.
func writeEscape(dst []byte, c byte) {
	dst[0], dst[1], dst[2] = '%', upperHexDigits[c>>4], upperHexDigits[c&15]
}

// unescape returns the byte of the escape %XX at the start of s. s must begin with %. ok is false
// if two hexadecimal digits do not follow.
func unescape(s string) (c byte, ok bool) {
	if len(s) < 3 {
		return 0, false
	}
	high, low := hexValue[s[1]], hexValue[s[2]]
	return high<<4 | low&15, high|low < 16
}

// hexValue maps a hexadecimal digit to its value, and any other byte to 16.
var hexValue = func() (value [256]byte) {
	for c := range value {
		value[c] = 16
	}
	for i := range byte(16) {
		value[upperHexDigits[i]], value[lowerASCII(upperHexDigits[i])] = i, i
	}
	return value
}()

// appendCanonical appends the canonical form of s to dst. s is the path of a rule, or the path or
// query of a target. Escapes are decoded only once, so %2541 stays %2541.
func appendCanonical(dst []byte, s string, isRule bool) []byte {
	dst = slices.Grow(dst, 3*len(s)) // This is the size if all bytes are escaped.
	out := dst[:cap(dst)]
	n := len(dst)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch class := byteClasses[c]; class {
		case byteReserved, bytePlain, byteSlash, byteQuery:
			out[n] = c
			n++
			continue
		case bytePercent:
			if decoded, ok := unescape(s[i:]); ok {
				i += 2
				if c = decoded; byteClasses[c] == bytePlain {
					out[n] = c
					n++
					continue
				}
			}
		case byteStar, byteDollar:
			if isRule && (class == byteStar || i == len(s)-1) {
				out[n] = c
				n++
				continue
			}
		}
		writeEscape(out[n:n+3], c)
		n += 3
	}
	return out[:n]
}

// canonicalRule returns the canonical form of a rule's path, or "" for a path that matches no
// target.
func canonicalRule(path string) string {
	switch {
	case matchesNothing(path):
		return ""
	case isCanonicalRule(path):
		return path
	}
	return string(appendCanonical(nil, path, true))
}

// matchesNothing reports whether a rule with this path matches no target.
func matchesNothing(path string) bool { return path == "" || path[0] != '/' && path[0] != '*' }

// isCanonicalRule reports whether a rule's path is its own canonical form.
func isCanonicalRule(s string) bool {
	for i := range len(s) {
		switch byteClasses[s[i]] {
		case byteEscaped, bytePercent:
			return false
		case byteDollar:
			if i != len(s)-1 {
				return false
			}
		}
	}
	return true
}
