package policy

import (
	"regexp"
	"slices"
	"strings"
)

func naiveHasDots(path string) bool {
	segments := strings.Split(path, "/")
	return slices.Contains(segments, ".") || slices.Contains(segments, "..")
}

func naiveResolve(path string) string {
	var kept []string
	segments := strings.Split(path, "/")[1:]
	for i, s := range segments {
		switch s {
		case ".", "..":
			if s == ".." && len(kept) > 0 {
				kept = kept[:len(kept)-1]
			}
			if i == len(segments)-1 {
				kept = append(kept, "")
			}
		default:
			kept = append(kept, s)
		}
	}
	return "/" + strings.Join(kept, "/")
}

// naivePath is a path that a server may derive from a target, in all its forms. literal has the
// forms in which nothing is decoded that only some servers decode.
type naivePath struct{ literal, all []naiveForm }

// naiveForm is a form of a target. Derived forms of the query apply to allow rules only.
type naiveForm struct {
	text      string
	allowOnly bool
}

// naivePaths returns the paths that servers may derive from a target. Without dot segments and with
// a normal scheme, it is one path in several forms.
func naivePaths(target string) []naivePath {
	whole, query, hasQuery := strings.Cut(target, "?")
	query = naiveCanonical(query, false)
	queries := []naiveForm{{"", false}}
	if hasQuery {
		queries = []naiveForm{{"?" + query, false}, {"?" + naiveDecoded.Replace(query), true}, {"?" + naiveEncoded.Replace(query), true}}
	}
	paths := []string{whole}
	if !strings.HasPrefix(whole, "/") {
		paths[0] = "/"
		_, rest, absolute := strings.Cut(whole, "://")
		if scheme := strings.SplitN(whole, "://", 2)[0]; !absolute || strings.Contains(scheme, "/") {
			rest = whole
		}
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			paths[0] = rest[i:]
		}
		if opaque := naiveOpaque.FindStringSubmatch(whole); opaque != nil {
			paths = append(paths, "/"+opaque[1])
		}
	}
	var found []naivePath
	add := func(p string, isLiteral bool) {
		var path naivePath
		for _, q := range queries {
			path.all = append(path.all, naiveForm{p + q.text, q.allowOnly && q.text != queries[0].text})
		}
		if isLiteral {
			path.literal = slices.Clone(path.all)
		}
		found = append(found, path)
	}
	apart := len(paths) > 1
	for _, p := range paths {
		p = naiveCanonical(p, false)
		add(p, true)
		add(naiveMerge(naiveSlashed.Replace(p)), false)
		if !naiveHasDots(naiveSlashed.Replace(p)) {
			continue
		}
		apart = true
		for i, some := range []string{p, naiveSlashed.Replace(p), strings.ReplaceAll(p, "%2F", "/")} {
			if !naiveHasDots(some) {
				continue // a server that decodes no more has no dot segments
			}
			if i == 0 {
				for _, end := range naiveEnds(some, naiveResolve(some)) {
					add(end, true)
				}
			}
			for _, a := range []string{naiveResolve(naiveMerge(some)), naiveMerge(naiveResolve(some))} {
				for _, end := range naiveEnds(some, a) {
					add(end, false)
				}
			}
		}
	}
	if apart {
		return found
	}
	var one naivePath
	for _, path := range found {
		one.literal, one.all = append(one.literal, path.literal...), append(one.all, path.all...)
	}
	return []naivePath{one}
}

var (
	naiveDecoded = strings.NewReplacer("%2F", "/", "%3F", "?")
	naiveEncoded = strings.NewReplacer("/", "%2F", "?", "%3F")
	naiveSlashed = strings.NewReplacer("%2F", "/", "%5C", "/")
	naiveLines   = strings.NewReplacer("\r\n", "\n", "\r", "\n")
)

var naiveOpaque = regexp.MustCompile(`(?s)^[A-Za-z][A-Za-z0-9+.-]*:([^/].*)?$`)

func naiveMerge(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

// naiveEnds returns the possible results of resolving a path, with and without the slash that final
// dots leave.
func naiveEnds(path, resolved string) []string {
	segments := strings.Split(path, "/")
	if last := segments[len(segments)-1]; last != "." && last != ".." || resolved == "/" {
		return []string{resolved}
	}
	return []string{resolved, strings.TrimSuffix(resolved, "/")}
}
