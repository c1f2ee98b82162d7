package policy

import (
	"bytes"
	"strings"
)

// addResolvedPaths adds the paths to which servers resolve a canonical path with dot segments.
// Servers differ in the order of resolving dots, decoding escaped slashes and merging slashes. Some
// treat a backslash as a slash. If keepSlashes is true, slashes are not merged.
func (t *Target) addResolvedPaths(out *componentVariants, canonical string, normalization Normalization, keepSlashes bool) {
	normalization |= DotSegmentsResolved
	// For the canonical path /a%2Fb%5C../c, the three inputs are the path itself, /a/b/../c and
	// /a/b%5C../c.
	slashesDecoded := t.decodeEscapes(canonical, '/', '/', false)
	for i, path := range [...]string{canonical, t.decodeEscapes(canonical, '\\', '/', false), slashesDecoded} {
		if !hasDotSegment(path) {
			continue
		}
		resolved := t.resolveDotSegments(path)
		switch {
		case i == 0:
			out.addResolvedPath(path, resolved, normalization)
		case keepSlashes: // This is for a server that decodes slashes and keeps runs of slashes.
			out.addResolvedPath(path, resolved, normalization|SlashesDecoded)
		}
		if !keepSlashes {
			out.addResolvedPath(path, t.resolveDotSegments(t.mergeSlashes(path)), normalization|SlashesDecoded)
			out.addResolvedPath(path, t.mergeSlashes(resolved), normalization|SlashesDecoded)
		}
	}
}

// mergeSlashes returns a path in which each run of slashes is one slash. The result is valid until
// the next Set.
func (t *Target) mergeSlashes(path string) string {
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
	return t.bufferText(start)
}

// addResolvedPath adds resolved, the result of resolving path. If path ends with a dot segment,
// resolved ends with a slash (RFC 3986), and addResolvedPath also adds it without this slash.
// Servers that clean paths like a file system remove the slash, so /a.pdf/. is /a.pdf.
func (a *componentVariants) addResolvedPath(path, resolved string, normalization Normalization) {
	a.add(resolved, normalization)
	if bare := strings.TrimSuffix(resolved, "/"); bare != "" && bare != resolved && endsWithDotSegment(path) {
		a.add(bare, normalization)
	}
}

// endsWithDotSegment reports whether the last segment of a path is "." or "..".
func endsWithDotSegment(path string) bool {
	last := path[strings.LastIndexByte(path, '/')+1:]
	return last == "." || last == ".."
}

// resolveDotSegments returns a path without its dot segments (RFC 3986 section 5.2.4). The result
// is valid until the next Set.
func (t *Target) resolveDotSegments(path string) string {
	start := len(t.buf)
	t.buf = append(t.buf, path...)
	t.buf = removeDotSegments(t.buf, start)
	return t.bufferText(start)
}

// hasDotSegment reports whether a path has a segment "." or "..".
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

// removeDotSegments removes the dot segments from the path in buf[start:] and returns the shorter
// buf (RFC 3986 section 5.2.4).
func removeDotSegments(buf []byte, start int) []byte {
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
