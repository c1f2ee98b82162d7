package policy

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// The naive implementation parses the file for each interpretation, and compares every rule with
// every form of the target. It shares only NameMatches with the package.

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

// naiveMatch tracks the positions in the target at which the first i bytes of the pattern can end.
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

// naiveReadAll returns the verdict over several paths, of which a disallowed path decides. any
// reports whether a form exists.
func naiveReadAll(rules []Rule, paths []naivePath, literal bool) (allowed bool, by Rule, any bool) {
	var best [2]int
	var rule [2]Rule
	for _, path := range paths {
		forms := path.all
		if literal {
			forms = path.literal
		}
		ok, decides, length := naiveRead(rules, forms)
		kind := map[bool]int{false: 0, true: 1}[ok]
		if length > best[kind] || length > 0 && length == best[kind] && decides.Line < rule[kind].Line {
			best[kind], rule[kind] = length, decides
		}
		any = any || len(forms) > 0
	}
	if best[0] > 0 {
		return false, rule[0], any
	}
	return true, rule[1], any
}

// naiveRead returns the verdict of the longest rule that matches any form.
func naiveRead(rules []Rule, forms []naiveForm) (allowed bool, by Rule, length int) {
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
			if len(p) > best[kind] && slices.ContainsFunc(forms, func(form naiveForm) bool { return (r.Allow || !form.allowOnly) && naiveMatch(p, form.text) }) {
				best[kind], rule[kind] = len(p), r
			}
		}
	}
	if best[0] > best[1] {
		return false, rule[0], best[0]
	}
	return true, rule[1], best[1]
}

// naiveGroups parses the lines of a file. With split, an extension line between user-agent lines
// begins another group.
func naiveGroups(text string, lenient, split bool) (groups []Group) {
	for _, mark := range []string{"\xef\xbb\xbf", "\xef\xbb", "\xef"} {
		if strings.HasPrefix(text, mark) {
			text = text[len(mark):]
			break
		}
	}
	text = naiveLines.Replace(text)
	naming, extended := false, false
	for i, line := range strings.Split(text, "\n") {
		line = strings.Split(strings.Split(line, "\x00")[0], "#")[0]
		key, value, colon := strings.Cut(line, ":")
		if !colon {
			words := strings.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == '\t' })
			if len(words) != 2 || !lenient {
				continue
			}
			key, value = words[0], words[1]
		}
		key, value = strings.ToLower(strings.Trim(key, " \t")), strings.Trim(value, " \t")
		if lenient {
			switch key {
			case "useragent", "user agent":
				key = "user-agent"
			case "dissallow", "dissalow", "disalow", "diasllow", "disallaw":
				key = "disallow"
			}
		}
		switch key {
		case "user-agent":
			if !naming || split && extended {
				groups = append(groups, Group{})
			}
			g := &groups[len(groups)-1]
			g.Agents = append(g.Agents, Agent{value, i + 1})
			naming, extended = true, false
		case "allow", "disallow":
			if len(groups) > 0 {
				g := &groups[len(groups)-1]
				g.Rules = append(g.Rules, Rule{key == "allow", value, i + 1})
			}
			naming, extended = false, false
		case "crawl-delay", "crawldelay", "request-rate", "visit-time", "noindex", "nofollow", "content-signal", "content-usage", "disallowaitraining":
			extended = true
		}
	}
	return groups
}

// naiveRules returns the rules of every group that names the token, or else of the * groups.
func naiveRules(groups []Group, token string) (rules []Rule) {
	collect := func(named func(name string) bool) (found bool) {
		for _, g := range groups {
			if slices.ContainsFunc(g.Agents, func(a Agent) bool { return named(a.Name) }) {
				found = true
				rules = append(rules, g.Rules...)
			}
		}
		return found
	}
	if !collect(func(name string) bool { return NameMatches(name, token) }) {
		collect(func(name string) bool {
			return name == "*" || strings.HasPrefix(name, "* ") || strings.HasPrefix(name, "*\t")
		})
	}
	return rules
}

// naiveJudge returns the expected verdict of Select(true, token).Judge(target), or of
// SelectWithLenientKeys.
func naiveJudge(r *Robots, token, target string, lenient bool) Verdict {
	paths := naivePaths(target)
	if !slices.ContainsFunc(paths, func(p naivePath) bool {
		return slices.ContainsFunc(p.all, func(form naiveForm) bool {
			path, _, _ := strings.Cut(form.text, "?")
			return path != "/robots.txt"
		})
	}) {
		return Verdict{Allowed: true}
	}
	read := func(lenient, split bool) (v Verdict) {
		rules := naiveRules(naiveGroups(r.Text(), lenient, split), token)
		v.Allowed, v.Rule, _ = naiveReadAll(rules, paths, false)
		byLiteral, _, any := naiveReadAll(rules, paths, true)
		v.Ambiguous = !v.Allowed && byLiteral && any && strings.Contains(v.Rule.Path, "*")
		return v
	}
	v, other := read(lenient, true), read(true, false)
	if v.Allowed != other.Allowed {
		if other.Allowed {
			v = other
		}
		v.Ambiguous = true
	}
	return v
}
