package handlerorder

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// trialObstacles maps a host to the reason why no robots_guard can run a trial of a changed
// robots_txt, which compares the change with the current rules. The reason is empty if a robots_guard
// can run the trial.
type trialObstacles map[string]string

// These keys are not hosts. anyHost means any host and someHost means some hosts. wildcardPrefix
// marks the hosts of a wildcard.
const anyHost, someHost, wildcardPrefix = "", "*", "<"

const unguarded = "no robots_guard judges the requests of this site; add one"

// newTrialObstacles returns, for the hosts of the guards, the reason why no guard can run a trial.
func newTrialObstacles(guards []*PlacedHandler) trialObstacles {
	t := make(trialObstacles)
	for _, g := range guards {
		obstacle := g.trialObstacle()
		if len(g.Hosts) == 0 {
			t.addObstacle(anyHost, obstacle)
		}
		t.addObstacle(someHost, obstacle)
		for _, host := range g.Hosts {
			if isUnclearPattern(host) {
				t.addObstacle(anyHost, obstacle)
			}
			t.addObstacle(strings.ToLower(host), obstacle)
			t.addObstacle(wildcardPrefix+wildcardFor(host), obstacle)
		}
	}
	return t
}

func (t trialObstacles) addObstacle(key, obstacle string) {
	if existing, ok := t[key]; !ok || existing != "" {
		t[key] = obstacle
	}
}

// isUnclearPattern reports whether a host has a placeholder, or a wildcard in another form than
// *.example.com. trialObstacles cannot tell which names these hosts include.
func isUnclearPattern(host string) bool {
	return strings.ContainsAny(strings.TrimPrefix(host, "*."), "*{")
}

// wildcardFor returns the wildcard that matches a host, such as *.example.com for www.example.com.
// wildcardFor returns a wildcard unchanged.
func wildcardFor(host string) string {
	_, rest, _ := strings.Cut(strings.ToLower(host), ".")
	return "*." + rest
}

// obstacleForHosts returns the reason why no guard can run a trial at any of the hosts, or "" if a
// guard can. An empty list of hosts means any host.
func (t trialObstacles) obstacleForHosts(hosts []string) string {
	keys := []string{anyHost}
	for _, host := range hosts {
		keys = append(keys, strings.ToLower(host), wildcardFor(host), wildcardPrefix+strings.ToLower(host))
	}
	if len(hosts) == 0 || slices.ContainsFunc(hosts, isUnclearPattern) {
		keys = append(keys, someHost)
	}
	found := ""
	for _, key := range keys {
		switch existing, ok := t[key]; {
		case ok && existing == "":
			return ""
		case ok:
			found = existing
		}
	}
	return cmp.Or(found, unguarded)
}

// trialObstacle returns the reason why this guard cannot run a trial of a changed robots_txt, or an
// empty string.
func (p *PlacedHandler) trialObstacle() string {
	var config struct {
		Source struct{ URL, File string }
		Shadow json.RawMessage
	}
	switch err := json.Unmarshal(p.Config, &config); {
	case err != nil:
		return ""
	case config.Source.URL != "" || config.Source.File != "":
		return "the robots_guard of this site reads its robots.txt from its option source; remove this option"
	case config.Shadow != nil:
		return "the robots_guard of this site already compares its option shadow; remove this option, or wait until this comparison ends"
	}
	return ""
}
