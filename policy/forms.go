package policy

import (
	"slices"
	"strings"
)

// Form says in which form a target was compared with a rule. The zero Form is
// the target in canonical spelling: escapes that mean nothing decoded, all
// others in upper case.
type Form uint8

// What else was done to a target. A form is a set of these.
const (
	FormSlashes      Form = 1 << iota // escaped slashes and backslashes decoded, runs of slashes merged
	FormDots                          // dot segments resolved
	FormQueryDecoded                  // escaped / and ? decoded in the query
	FormQueryEncoded                  // / and ? escaped in the query
	FormOpaque                        // what follows the scheme taken for the path
)

// String describes the form, for example "canonical" or "slashes, dots".
func (f Form) String() string {
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

// alternatives are the forms of the path or of the query, no two the same.
type alternatives struct {
	list  [maxPaths]alternative
	count int
}

type alternative struct {
	text string
	form Form
}

func (a *alternatives) all() []alternative { return a.list[:a.count] }

func (a *alternatives) add(text string, form Form) {
	for i := range a.count {
		if a.list[i].text == text {
			return
		}
	}
	a.list[a.count] = alternative{text, form}
	a.count++
}

// isOnePath reports whether a canonical path has no other form.
func isOnePath(path string, keepSlashes bool) bool {
	return !strings.Contains(path, "/.") &&
		(keepSlashes || !strings.Contains(path, "//")) &&
		!strings.Contains(path, "%2F") && !strings.Contains(path, "%5C")
}

// literalPaths adds the forms of a canonical path in which an escaped slash is
// none. No client sends dot segments; a path that has them is compared only
// resolved, or "Allow: /public/" would open /public/../private/.
func (t *Target) literalPaths(out *alternatives, canonical string, form Form) {
	resolved := canonical
	dots := hasDotSegment(canonical)
	if dots {
		resolved = t.resolved(canonical)
	}
	if t.hidesDots(resolved) {
		return
	}
	if !dots {
		out.add(resolved, form)
		return
	}
	out.addResolved(canonical, resolved, form|FormDots)
}

// slashedPaths adds the forms of a canonical path in which escaped slashes and
// backslashes are slashes and, unless keepSlashes is set, runs of slashes are
// one. Some servers merge them before they resolve dot segments, others after.
// What those remove depends on what is a slash: a backslash is none to most
// servers, and an escaped slash to some.
func (t *Target) slashedPaths(out *alternatives, canonical string, form Form, keepSlashes bool) {
	form |= FormSlashes
	path := t.decoded(canonical, '\\', '/', !keepSlashes)
	if !hasDotSegment(path) {
		out.add(path, form)
		return
	}
	form |= FormDots
	t.dottedPaths(out, t.decoded(canonical, '\\', '/', false), form, keepSlashes)
	if strings.Contains(canonical, "%5C") {
		t.dottedPaths(out, t.decoded(canonical, '/', '/', false), form, keepSlashes)
	}
	if !keepSlashes && strings.Contains(canonical, "%2F") {
		t.dottedPaths(out, canonical, form, false)
	}
}

// isOneQuery reports whether a canonical query has no other form.
func isOneQuery(query string) bool {
	return strings.IndexByte(query, '/') < 0 && strings.IndexByte(query, '?') < 0 &&
		!strings.Contains(query, "%2F") && !strings.Contains(query, "%3F")
}

// queries adds the forms of a canonical query. Clients differ in whether they
// escape / and ? there, which is allowed either way (RFC 3986 section 3.4).
func (t *Target) queries(out *alternatives, canonical string) {
	out.add(canonical, 0)
	out.add(t.decoded(canonical, '?', '?', false), FormQueryDecoded)
	if strings.IndexByte(canonical, '/') >= 0 || strings.IndexByte(canonical, '?') >= 0 {
		out.list[out.count] = alternative{form: FormQueryEncoded} // to be written when it is needed
		out.count++
	}
}

// decoded returns which of the queries is decoded.
func (a *alternatives) decoded() int {
	if a.list[1].form == FormQueryDecoded {
		return 1
	}
	return 0 // there is nothing to decode
}

// decoded returns a canonical text with its escaped slashes decoded and the
// escape of the given byte replaced; merge makes runs of slashes one.
func (t *Target) decoded(canonical string, escaped, by byte, merge bool) string {
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
			switch decoded := unhex[high]<<4 | unhex[low]; decoded {
			case '/':
				c = decoded
			case escaped:
				c = by
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
	return t.since(start)
}

// encoded returns a query with / and ? escaped.
func (t *Target) encoded(query string) string {
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
		putEscape(out[n:n+3], c)
		n += 3
	}
	t.buf = out[:n]
	return t.since(start)
}
