package policy

import (
	"slices"
	"strings"
)

// Normalization is the set of operations that turn a request target into one of its variants.
// Servers differ in which operations they apply. The zero Normalization stands for the canonical
// form of the target as sent: unnecessary escapes decoded, other escapes in upper case.
type Normalization uint8

// These are the operations.
const (
	// In the path, escaped slashes and backslashes are decoded, or runs of slashes are merged, or
	// both.
	SlashesDecoded      Normalization = 1 << iota
	DotSegmentsResolved               // Dot segments in the path are resolved.
	QueryDecoded                      // Escaped / and ? in the query are decoded.
	QueryEncoded                      // / and ? in the query are escaped.
	SchemeRemoved                     // The part after the scheme is used as the path, as in x:a for /a.
)

// String returns the operations in words, for example "slashes, dots", or "canonical" for none.
func (f Normalization) String() string {
	if f == 0 {
		return "canonical"
	}
	var parts []string
	for i, name := range []string{"slashes", "dots", "query decoded", "query encoded", "opaque"} {
		if f&(1<<i) != 0 {
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, ", ")
}

// componentVariants are the distinct variants of a target's path or of its query.
type componentVariants struct {
	list  [maxPaths]componentVariant
	count int
}

// componentVariant is a path or a query after the operations of a Normalization.
type componentVariant struct {
	text          string
	normalization Normalization
}

func (a *componentVariants) variants() []componentVariant { return a.list[:a.count] }

// add adds a variant, unless a variant has the same text.
func (a *componentVariants) add(text string, normalization Normalization) {
	for i := range a.count {
		if a.list[i].text == text {
			return
		}
	}
	a.list[a.count] = componentVariant{text, normalization}
	a.count++
}

// hasSinglePathVariant reports whether the canonical form of a path is its only variant.
func hasSinglePathVariant(path string, keepSlashes bool) bool {
	return !strings.Contains(path, "/.") &&
		(keepSlashes || !strings.Contains(path, "//")) &&
		!strings.Contains(path, "%2F") && !strings.Contains(path, "%5C")
}

// addPathVariants adds the variants of a canonical path: as sent, and with escaped slashes and
// backslashes as slashes and runs of slashes merged. If keepSlashes is true, runs are not merged. A
// path with dot segments is also added with these resolved, because nginx, Caddy and Go match the
// resolved path, and Express, Flask and Django the path as sent.
func (t *Target) addPathVariants(out *componentVariants, canonical string, normalization Normalization, keepSlashes bool) {
	out.add(canonical, normalization)
	decoded := t.decodeEscapes(canonical, '\\', '/', !keepSlashes)
	out.add(decoded, normalization|SlashesDecoded)
	if hasDotSegment(decoded) {
		t.addResolvedPaths(out, canonical, normalization, keepSlashes)
	}
}

// hasSingleQueryVariant reports whether the canonical form of a query is its only variant.
func hasSingleQueryVariant(query string) bool {
	return strings.IndexByte(query, '/') < 0 && strings.IndexByte(query, '?') < 0 &&
		!strings.Contains(query, "%2F") && !strings.Contains(query, "%3F")
}

// addQueryVariants adds the variants of a canonical query: as sent, and with / and ? decoded, and
// escaped. Clients differ in whether they escape these bytes in a query (RFC 3986 section 3.4).
func (t *Target) addQueryVariants(out *componentVariants, canonical string) {
	out.add(canonical, 0)
	out.add(t.decodeEscapes(canonical, '?', '?', false), QueryDecoded)
	if strings.IndexByte(canonical, '/') >= 0 || strings.IndexByte(canonical, '?') >= 0 {
		out.add(t.encodeQuery(canonical), QueryEncoded)
	}
}

// decodeEscapes returns a canonical path or query in which each escaped slash is decoded, and each
// escape of escapedByte is replaced by replacement. If merge is true, runs of slashes are merged.
func (t *Target) decodeEscapes(canonical string, escapedByte, replacement byte, merge bool) string {
	first := strings.IndexByte(canonical, '%')
	if first < 0 {
		first = len(canonical)
	}
	if merge {
		if i := strings.Index(canonical[:first], "//"); i >= 0 {
			first = i
		}
	}
	if first == len(canonical) {
		return canonical
	}
	start := len(t.buf)
	buf := append(slices.Grow(t.buf, len(canonical)), canonical[:first]...)
	out := buf[:cap(buf)]
	n := len(buf)
	for i := first; i < len(canonical); i++ {
		c := canonical[i]
		if c == '%' {
			high, low := canonical[i+1], canonical[i+2]
			i += 2
			switch decoded := hexValue[high]<<4 | hexValue[low]; decoded {
			case '/':
				c = decoded
			case escapedByte:
				c = replacement
			default:
				out[n], out[n+1], out[n+2] = c, high, low
				n += 3
				continue
			}
		}
		if c == '/' && merge && n > start && out[n-1] == '/' {
			continue
		}
		out[n] = c
		n++
	}
	t.buf = out[:n]
	return t.bufferText(start)
}

// encodeQuery returns a canonical query in which / and ? are escaped.
func (t *Target) encodeQuery(query string) string {
	start := len(t.buf)
	out := slices.Grow(t.buf, 3*len(query))
	out = out[:cap(out)]
	n := start
	for i := range len(query) {
		c := query[i]
		if c != '/' && c != '?' {
			out[n] = c
			n++
			continue
		}
		writeEscape(out[n:n+3], c)
		n += 3
	}
	t.buf = out[:n]
	return t.bufferText(start)
}
