package policy

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// The naive reading of a parsed file: every rule is tried on every form of the
// target. It shares nothing with the compiled one but the parser.

const naiveRaw = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!'(),;:@"

func naiveCanonical(s string, isRule bool) string {
	var out []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		if decoded, err := url.PathUnescape(s[i:min(i+3, len(s))]); c == '%' && err == nil {
			if c, i = decoded[0], i+2; strings.IndexByte(naiveRaw, c) >= 0 {
				out = append(out, c)
			} else {
				out = fmt.Appendf(out, "%%%02X", c)
			}
			continue
		}
		operator := isRule && (c == '*' || c == '$' && i == len(s)-1)
		if operator || strings.IndexByte(naiveRaw+"/?&=+", c) >= 0 {
			out = append(out, c)
		} else {
			out = fmt.Appendf(out, "%%%02X", c)
		}
	}
	return string(out)
}

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

// naiveForms returns the forms of a target, those with escaped slashes left
// alone first.
func naiveForms(target string) (literal, all []string) {
	path, query, hasQuery := strings.Cut(target, "?")
	path, query = naiveCanonical(path, false), naiveCanonical(query, false)
	queries := []string{""}
	if hasQuery {
		decoded := strings.NewReplacer("%2F", "/", "%3F", "?").Replace(query)
		encoded := strings.NewReplacer("/", "%2F", "?", "%3F").Replace(query)
		queries = []string{"?" + query, "?" + decoded, "?" + encoded}
	}
	if a := naiveResolve(path); !naiveHasDots(strings.ReplaceAll(a, "%2F", "/")) {
		for _, q := range queries {
			literal = append(literal, a+q)
		}
	}
	c := strings.NewReplacer("%2F", "/", "%5C", "/").Replace(path)
	for strings.Contains(c, "//") {
		c = strings.ReplaceAll(c, "//", "/")
	}
	all = literal
	for _, q := range queries {
		all = append(all, naiveResolve(c)+q)
	}
	return literal, all
}

// naiveMatch keeps the set of places in the target that the pattern up to its
// i-th byte can end at.
func naiveMatch(pattern, target string) bool {
	at := make([]bool, len(target)+1)
	at[0] = true
	for i := range len(pattern) {
		next := make([]bool, len(target)+1)
		for j := range at {
			switch {
			case pattern[i] == '*':
				next[j] = at[j] || j > 0 && next[j-1]
			case pattern[i] == '$' && i == len(pattern)-1:
				next[j] = at[j] && j == len(target)
			case j > 0:
				next[j] = at[j-1] && target[j-1] == pattern[i]
			}
		}
		if at = next; !slices.Contains(at, true) {
			return false
		}
	}
	return true
}

// naiveRead judges by the longest rule that matches any of the forms.
func naiveRead(rules []Rule, forms []string) (allowed bool, by Rule) {
	var best [2]int
	var rule [2]Rule
	for _, r := range rules {
		if r.Path == "" || r.Path[0] != '/' && r.Path[0] != '*' {
			continue
		}
		path := naiveCanonical(r.Path, true)
		patterns := []string{path}
		if i := strings.LastIndex(path, "/"); r.Allow && strings.HasPrefix(path[max(i, 0):], "/index.htm") {
			patterns = append(patterns, path[:i+1]+"$")
		}
		kind := map[bool]int{false: 0, true: 1}[r.Allow]
		for _, p := range patterns {
			if len(p) > best[kind] && slices.ContainsFunc(forms, func(form string) bool { return naiveMatch(p, form) }) {
				best[kind], rule[kind] = len(p), r
			}
		}
	}
	if best[0] > best[1] {
		return false, rule[0]
	}
	return true, rule[1]
}

// naiveRules returns the rules of every group that names the token, or of the *
// groups, in both readings of the grouping, and whether there is any group.
func naiveRules(r *Robots, token string) (joined, split []Rule, found bool) {
	collect := func(named func(name string) bool) {
		for i, g := range r.Groups() {
			parted := 0 // line of the last extension between the user-agent lines
			for _, rec := range r.Records() {
				if rec.Group == i && rec.Line < g.Agents[len(g.Agents)-1].Line {
					parted = rec.Line
				}
			}
			inJoined, inSplit := false, false
			for _, a := range g.Agents {
				inJoined = inJoined || named(a.Name)
				inSplit = inSplit || named(a.Name) && a.Line > parted
			}
			if found = found || inJoined; inJoined {
				joined = append(joined, g.Rules...)
			}
			if inSplit {
				split = append(split, g.Rules...)
			}
		}
	}
	collect(func(name string) bool { return NameMatches(name, token) })
	if !found {
		collect(func(name string) bool { return name == "*" || strings.HasPrefix(name, "*") && isSpace(name[1]) })
	}
	return joined, split, found
}

// naiveJudge is what Select(true, token).Judge(target) should say.
func naiveJudge(r *Robots, token, target string) Verdict {
	literal, forms := naiveForms(target)
	joined, split, _ := naiveRules(r, token)
	if path, _, _ := strings.Cut(forms[0], "?"); path == "/robots.txt" {
		return Verdict{Allowed: true}
	}
	read := func(rules []Rule) (v Verdict) {
		v.Allowed, v.Rule = naiveRead(rules, forms)
		byLiteral, _ := naiveRead(rules, literal)
		v.Ambiguous = !v.Allowed && byLiteral && len(literal) > 0 && strings.Contains(v.Rule.Path, "*")
		return v
	}
	v, other := read(joined), read(split)
	if v.Allowed != other.Allowed {
		if other.Allowed {
			v = other
		}
		v.Ambiguous = true
	}
	return v
}
