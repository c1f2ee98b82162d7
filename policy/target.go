package policy

import (
	"strings"
	"unsafe"
)

// TargetFromURL returns the request target for a URL as people write it: a path, or a URL with or
// without a scheme ("example.com/a" is the path /a of a host) and with or without a path
// ("http://example.com?q" is /?q). TargetFromURL removes a fragment, except from a path.
// TargetFromURL returns a URL with a scheme but without a slash after the scheme unchanged, for
// [Target.Set]: "x:a/b", but not the host and port "example.com:80/a".
func TargetFromURL(url string) string {
	if strings.HasPrefix(url, "/") {
		return url
	}
	if i := strings.IndexByte(url, '#'); i >= 0 {
		url = url[:i]
	}
	if rest, ok := cutScheme(url); ok && !startsWithPort(rest) {
		return url
	}
	return toOriginForm(url)
}

// startsWithPort reports whether s is a number, alone or followed by a path or a query.
func startsWithPort(s string) bool {
	rest := strings.TrimLeft(s, "0123456789")
	return rest != s && (rest == "" || rest[0] == '/' || rest[0] == '?')
}

// cutScheme returns the rest of a target after `scheme:` (RFC 3986 section 3.1). ok is false
// without a scheme, or if a slash follows the colon. Some servers treat the rest as the path.
func cutScheme(target string) (rest string, ok bool) {
	for i := range len(target) {
		switch c := lowerASCII(target[i]); {
		case 'a' <= c && c <= 'z':
		case c == ':' && i > 0:
			rest = target[i+1:]
			return rest, !strings.HasPrefix(rest, "/")
		case i == 0 || c != '+' && c != '-' && c != '.' && (c < '0' || c > '9'):
			return "", false
		}
	}
	return "", false
}

// toOriginForm returns the path and query of a target. toOriginForm removes the scheme and
// authority, and adds a missing path (RFC 9112 section 3.2).
func toOriginForm(target string) string {
	if strings.HasPrefix(target, "/") {
		return target
	}
	if i := strings.Index(target, "://"); i >= 0 && !strings.ContainsAny(target[:i], "/?") {
		target = target[i+len("://"):]
	}
	i := strings.IndexAny(target, "/?")
	switch {
	case i < 0:
		return "/"
	case target[i] == '?':
		return "/" + target[i:]
	}
	return target[i:]
}

// These are the maximum numbers of variants. A target can contain two paths (see cutScheme). Each
// path has two variants as sent. With resolved dot segments it has six variants without decoded
// slashes, and four for each of two ways to decode slashes. Half of these lack the final slash. A
// query has three variants.
const (
	maxPaths   = 2 * (2 + 6 + 2*4)
	maxQueries = 3
)

// inlineVariants is the number of variants that a Target stores without allocating memory. A target
// with one path and without dot segments never has more.
const inlineVariants = 2 * maxQueries

// Target is a request target in all variants that servers can treat as the same resource. Rules are
// compared with each variant. The zero Target is ready for [Target.Set]. Further calls of Set reuse
// the memory. A Target is not safe for concurrent use.
type Target struct {
	inline   [inlineVariants]variant
	overflow []variant // overflow has all variants if there are more than inlineVariants.
	count    int
	buf      []byte // buf is the memory of the variants, except for the target itself.
}

// variant is the path and query of a target after the operations of a Normalization.
type variant struct {
	text          string
	normalization Normalization
	sharesPath    bool // sharesPath is true if the path is that of the previous variant, and only the query differs.
}

// Set sets the request target (RFC 9112 section 3.2). Of an absolute form, Set uses the path and
// query. An empty target is /. A # does not start a fragment.
//
// If keepSlashes is true, runs of slashes are significant. Otherwise the target is also compared
// with merged slashes, because most servers merge slashes.
func (t *Target) Set(target string, keepSlashes bool) {
	t.count = 0
	if isCanonicalTarget(target) {
		t.add(variant{text: target})
		return
	}
	path, query, hasQuery := strings.Cut(toOriginForm(target), "?")
	t.buf = appendCanonical(t.buf[:0], path, false)
	end := len(t.buf)
	if hasQuery {
		t.buf = append(t.buf, '?')
		t.buf = appendCanonical(t.buf, query, false)
	}
	canonical := t.bufferText(0)
	opaque, isOpaque := cutScheme(target)
	if !isOpaque && hasSinglePathVariant(canonical[:end], keepSlashes) && (!hasQuery || hasSingleQueryVariant(canonical[end+1:])) {
		t.add(variant{text: canonical})
		return
	}

	var paths componentVariants
	t.addPathVariants(&paths, canonical[:end], 0, keepSlashes)
	if isOpaque {
		opaque, _, _ = strings.Cut(opaque, "?")
		start := len(t.buf)
		t.buf = appendCanonical(append(t.buf, '/'), opaque, false)
		t.addPathVariants(&paths, t.bufferText(start), SchemeRemoved, keepSlashes)
	}
	if !hasQuery {
		for _, path := range paths.variants() {
			t.add(variant{text: path.text, normalization: path.normalization})
		}
		return
	}
	var queries componentVariants
	t.addQueryVariants(&queries, canonical[end+1:])
	for _, path := range paths.variants() {
		for j, query := range queries.variants() {
			start := len(t.buf)
			t.buf = append(t.buf, path.text...)
			t.buf = append(t.buf, '?')
			t.buf = append(t.buf, query.text...)
			t.add(variant{text: t.bufferText(start), normalization: path.normalization | query.normalization, sharesPath: j > 0})
		}
	}
}

// variants returns the variants of the target. The slice and its strings are valid until the next
// call of Set.
func (t *Target) variants() []variant {
	if t.count > len(t.inline) {
		return t.overflow
	}
	return t.inline[:t.count]
}

// add adds a variant.
func (t *Target) add(x variant) {
	switch {
	case t.count < len(t.inline):
		t.inline[t.count] = x
	case t.count == len(t.inline):
		t.overflow = append(append(t.overflow[:0], t.inline[:]...), x)
	default:
		t.overflow = append(t.overflow, x)
	}
	t.count++
}

// dropCallerString removes all variants, of which the first can be the string that the caller passed
// to Set. The pool then does not keep this string in memory.
func (t *Target) dropCallerString() {
	clear(t.variants())
	t.count = 0
}

// bufferText returns the bytes of the buffer from start on as a string, without copying them. They
// are not changed before the next Set. The string must not be used later.
func (t *Target) bufferText(start int) string {
	part := t.buf[start:]
	return unsafe.String(unsafe.SliceData(part), len(part))
}

// isRobotsTxt reports whether every variant of a target is /robots.txt, with any query.
func isRobotsTxt(variants []variant) bool {
	const file = "/robots.txt"
	for i := range variants {
		rest, ok := strings.CutPrefix(variants[i].text, file)
		if !ok || rest != "" && rest[0] != '?' { // A variant has another path.
			return false
		}
	}
	return true
}

// isCanonicalTarget reports whether a target is in canonical form and has no other variant.
func isCanonicalTarget(target string) bool {
	if target == "" || target[0] != '/' {
		return false
	}
	for i := range len(target) {
		switch byteClasses[target[i]] {
		case byteReserved, bytePlain:
		case byteSlash:
			if i+1 < len(target) && (target[i+1] == '/' || target[i+1] == '.') {
				return false
			}
		case byteQuery:
			return isCanonicalQuery(target[i+1:])
		default:
			return false
		}
	}
	return true
}

// isCanonicalQuery reports whether a query is in canonical form and has no other variant: it has no
// escape, /, ?, * or $.
func isCanonicalQuery(query string) bool {
	for i := range len(query) {
		if byteClasses[query[i]] > bytePlain {
			return false
		}
	}
	return true
}
