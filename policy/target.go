package policy

import (
	"strings"
	"unsafe"
)

// TargetOf returns the request target that a client sends for a URL. It takes
// what people write: a URL with or without scheme ("example.com/a" is the path
// /a of a host), without a path ("http://example.com?q" is /?q), or a path. A
// fragment is dropped except from a bare path, where # can only be data.
func TargetOf(url string) string {
	if strings.HasPrefix(url, "/") {
		return url
	}
	if i := strings.IndexByte(url, '#'); i >= 0 {
		url = url[:i]
	}
	return originForm(url)
}

// originForm strips scheme and authority from an absolute form and supplies an
// empty path (RFC 9112 section 3.2).
func originForm(target string) string {
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

// maxForms is two forms of the path times three of the query.
const maxForms = 6

// Target is a request target in all forms in which it is compared with rules:
// a server behind may take each of them for the same resource. The zero Target
// is ready for [Target.Set], which may be called again to reuse its memory.
// It is not safe for concurrent use.
type Target struct {
	spellings [maxForms]spelling
	count     int
	buf       []byte // what the spellings point into, unless it is the target itself
}

// spelling is a target in one form. Eight bytes of text in a row that hold none
// of text[from:to] also stand in an earlier form of the target.
type spelling struct {
	text     string
	form     Form
	from, to int
}

// spelled is a text that shares nothing with an earlier form.
func spelled(text string, form Form) spelling { return spelling{text, form, 0, len(text)} }

// Set prepares a request target. See RFC 9112 section 3.2 for what it may look
// like; an absolute form counts by its path and query, an empty one as /. A #
// is data: nothing is cut off there.
//
// With keepSlashes runs of slashes are significant; without it the target is
// also compared with them merged, which is how most servers look for files.
func (t *Target) Set(target string, keepSlashes bool) {
	t.count = 0
	if isPlain(target) {
		t.add(spelled(target, 0))
		return
	}
	path, query, hasQuery := strings.Cut(originForm(target), "?")
	t.buf = appendCanonical(t.buf[:0], path, false)
	end := len(t.buf)
	if hasQuery {
		t.buf = append(t.buf, '?')
		t.buf = appendCanonical(t.buf, query, false)
	}
	canonical := t.since(0)
	if isOnePath(canonical[:end], keepSlashes) && (!hasQuery || isOneQuery(canonical[end+1:])) {
		t.add(spelled(canonical, 0))
		return
	}

	paths := t.paths(canonical[:end], keepSlashes)
	if !hasQuery {
		for i := range paths.count {
			t.add(spelled(paths.text[i], paths.form[i]))
		}
		return
	}
	queries := t.queries(canonical[end+1:])
	for i := range paths.count {
		for j := range queries.count {
			start := len(t.buf)
			t.buf = append(t.buf, paths.text[i]...)
			t.buf = append(t.buf, '?')
			t.buf = append(t.buf, queries.text[j]...)
			x := spelled(t.since(start), paths.form[i]|queries.form[j])
			mark := len(paths.text[i]) // the question mark
			if i > 0 {
				x.to = mark // the first path had the same queries
			}
			if j > 0 {
				x.from, x.to = mark, max(mark+1, x.to)
			}
			t.add(x)
		}
	}
}

func (t *Target) add(x spelling) {
	t.spellings[t.count] = x
	t.count++
}

// since returns what was appended to the buffer from start on, without copying
// it. That part is not written again before the next Set (a buffer that grows
// leaves the old one as it was), and nothing that outlives the Target keeps the
// string.
func (t *Target) since(start int) string {
	part := t.buf[start:]
	return unsafe.String(unsafe.SliceData(part), len(part))
}

// isRobotsTxt reports whether a target is /robots.txt itself, with any query.
func isRobotsTxt(target string) bool {
	const file = "/robots.txt"
	return strings.HasPrefix(target, file) && (len(target) == len(file) || target[len(file)] == '?')
}

// isPlain reports whether a target has one form only, namely itself.
func isPlain(target string) bool {
	if target == "" || target[0] != '/' {
		return false
	}
	for i := range len(target) {
		switch byteClass[target[i]] {
		case byteKept, bytePlain:
		case byteSlash:
			if i+1 < len(target) && (target[i+1] == '/' || target[i+1] == '.') {
				return false
			}
		case byteQuery:
			return isPlainQuery(target[i+1:])
		default:
			return false
		}
	}
	return true
}

// isPlainQuery reports whether a query has one form only.
func isPlainQuery(query string) bool {
	for i := range len(query) {
		if byteClass[query[i]] > bytePlain {
			return false
		}
	}
	return true
}
