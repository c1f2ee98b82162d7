package placement

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// trials maps a host to the reason why no guard can judge a change of a robots_txt. The reason is
// empty if a guard can.
type trials map[string]string

// These keys are not hosts. anyHost means any host and someHost means some hosts. The prefix
// below marks the hosts of a wildcard.
const anyHost, someHost, below = "", "*", "<"

const unguarded = "no robots_guard judges the requests there; add one"

// trialsOf returns the trials that these guards allow.
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

// mayBeAny reports whether a host has a placeholder, or a wildcard in another form than
// *.example.com. Such hosts are not analyzed.
func mayBeAny(host string) bool {
	return strings.ContainsAny(strings.TrimPrefix(host, "*."), "*{")
}

// wildcardOf returns the wildcard that matches a host. A wildcard returns itself.
func wildcardOf(host string) string {
	_, rest, _ := strings.Cut(strings.ToLower(host), ".")
	return "*." + rest
}

// whyUntried returns the reason why no guard can judge a change at some hosts, or an empty string.
// An empty list of hosts means any host.
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

// whyUntried returns the reason why this guard cannot judge a change, or an empty string.
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
