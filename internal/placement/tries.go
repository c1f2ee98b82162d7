package placement

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// trials tells by host why no guard judges a change of a robots_txt beside what is
// published, "" where one does.
type trials map[string]string

// Keys that are no hosts: for any of them, for some, and the beginning of one for what
// a wildcard is for.
const anyHost, someHost, below = "", "*", "<"

const unguarded = "no robots_guard judges the requests there; add one"

// trialsOf returns what guards there are for trials.
func trialsOf(guards []*Placed) trials {
	t := make(trials)
	for _, g := range guards {
		why := g.whyUntried()
		if len(g.Hosts) == 0 {
			t.add(anyHost, why)
		}
		t.add(someHost, why)
		for _, host := range g.Hosts {
			if mayBeAny(host) {
				t.add(anyHost, why)
			}
			t.add(strings.ToLower(host), why)
			t.add(below+wildcardOf(host), why)
		}
	}
	return t
}

func (t trials) add(key, why string) {
	if known, ok := t[key]; !ok || known != "" {
		t[key] = why
	}
}

// mayBeAny reports whether a host has a placeholder or a wildcard of another shape than
// *.example.com: what it is for is not looked into.
func mayBeAny(host string) bool {
	return strings.ContainsAny(strings.TrimPrefix(host, "*."), "*{")
}

// wildcardOf returns the wildcard that a host is for, itself if it is one.
func wildcardOf(host string) string {
	_, rest, _ := strings.Cut(strings.ToLower(host), ".")
	return "*." + rest
}

// whyUntried tells why no guard judges a change at some hosts, none for any, and "" if
// one judges it.
func (t trials) whyUntried(hosts []string) string {
	keys := []string{anyHost}
	for _, host := range hosts {
		keys = append(keys, strings.ToLower(host), wildcardOf(host), below+strings.ToLower(host))
	}
	if len(hosts) == 0 || slices.ContainsFunc(hosts, mayBeAny) {
		keys = append(keys, someHost)
	}
	why := ""
	for _, key := range keys {
		switch known, ok := t[key]; {
		case ok && known == "":
			return ""
		case ok:
			why = known
		}
	}
	return cmp.Or(why, unguarded)
}

// whyUntried tells why a guard judges no change of a robots_txt, "" if it does.
func (p *Placed) whyUntried() string {
	var config struct {
		Source struct{ URL, File string }
		Shadow json.RawMessage
	}
	switch err := json.Unmarshal(p.Config, &config); {
	case err != nil:
		return ""
	case config.Source.URL != "" || config.Source.File != "":
		return "the robots_guard there goes by its option source; remove that"
	case config.Shadow != nil:
		return "the robots_guard there tries the text of its option shadow; remove that, or wait"
	}
	return ""
}
