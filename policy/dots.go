package policy

import (
	"bytes"
	"strings"
)

// dottedPaths adds the forms of a path whose slashes are decoded as far as they are, if
// it has dot segments.
func (t *Target) dottedPaths(out *alternatives, whole string, form Form, keepSlashes bool) {
	if !hasDotSegment(whole) {
		return
	}
	path := whole
	if !keepSlashes {
		path = t.merged(whole)
	}
	if resolved := t.resolved(path); !t.hidesDots(resolved) {
		out.addResolved(path, resolved, form)
	}
	if len(whole) == len(path) {
		return
	}
	if resolved := t.merged(t.resolved(whole)); !t.hidesDots(resolved) {
		out.addResolved(path, resolved, form)
	}
}

// hidesDots reports whether a path gets dot segments by decoding a slash. Nobody serves
// that as it is. Behind a backslash they may be part of a file's name.
func (t *Target) hidesDots(path string) bool {
	return (strings.Contains(path, "%2F.") || strings.Contains(path, ".%2F")) &&
		hasDotSegment(t.decoded(path, '/', '/', false))
}

// merged returns a path with runs of slashes made one.
func (t *Target) merged(path string) string {
	first := strings.Index(path, "//")
	if first < 0 {
		return path
	}
	start := len(t.buf)
	t.buf = append(t.buf, path[:first+1]...)
	for i := first + 2; i < len(path); i++ {
		if path[i] != '/' || path[i-1] != '/' {
			t.buf = append(t.buf, path[i])
		}
	}
	return t.since(start)
}

// addResolved adds a path whose dot segments are resolved. Dots at its end leave a
// slash by RFC 3986 and none where a server cleans paths as file systems do, so
// that /a.pdf/. is /a.pdf there.
func (a *alternatives) addResolved(path, resolved string, form Form) {
	a.add(resolved, form)
	if bare := strings.TrimSuffix(resolved, "/"); bare != "" && bare != resolved && endsWithDots(path) {
		a.add(bare, form)
	}
}

// endsWithDots reports whether the last segment of a path is . or .. .
func endsWithDots(path string) bool {
	last := path[strings.LastIndexByte(path, '/')+1:]
	return last == "." || last == ".."
}

// resolved returns a path without dot segments, see RFC 3986 section 5.2.4.
func (t *Target) resolved(path string) string {
	start := len(t.buf)
	t.buf = append(t.buf, path...)
	t.buf = resolveDots(t.buf, start)
	return t.since(start)
}

// hasDotSegment reports whether a path has a segment . or .. .
func hasDotSegment(path string) bool {
	for {
		i := strings.Index(path, "/.")
		if i < 0 {
			return false
		}
		path = path[i+len("/."):]
		rest := strings.TrimPrefix(path, ".")
		if path == "" || path[0] == '/' || rest == "" || rest != path && rest[0] == '/' {
			return true
		}
	}
}

// resolveDots removes the dot segments from the path in buf[start:], as
// RFC 3986 section 5.2.4 does.
func resolveDots(buf []byte, start int) []byte {
	end := start
	for pos := start; pos < len(buf); {
		// buf[pos] is the slash before a segment.
		next := len(buf)
		if i := bytes.IndexByte(buf[pos+1:], '/'); i >= 0 {
			next = pos + 1 + i
		}
		switch segment := buf[pos+1 : next]; {
		case len(segment) == 1 && segment[0] == '.':
			if next == len(buf) {
				buf[end] = '/'
				end++
			}
		case len(segment) == 2 && segment[0] == '.' && segment[1] == '.':
			end = start + max(0, bytes.LastIndexByte(buf[start:end], '/'))
			if next == len(buf) {
				buf[end] = '/'
				end++
			}
		default:
			end += copy(buf[end:], buf[pos:next])
		}
		pos = next
	}
	return buf[:end]
}
