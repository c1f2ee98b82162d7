package judge

import (
	"fmt"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// CheckEnforced returns an error for a name in enforce whose class is in exempt or only_log,
// so that it would never be blocked. It returns nil if registry is nil, because the classes
// are then unknown.
func (s *Settings) CheckEnforced(registry *uaident.Registry, enforced []string) error {
	if registry == nil {
		return nil
	}
	for _, word := range enforced {
		c := LookupCrawler(registry, word)
		if c == nil {
			continue
		}
		for _, list := range []struct {
			name, effect string
			clients      *ClientSet
		}{{"exempt", "it is never judged", &s.Exempt}, {"only_log", "it is never blocked", &s.OnlyLog}} {
			if list.clients.claimed.classes.Has(c.Class) {
				return fmt.Errorf("%s is in enforce, but %s contains its class %s, so %s; remove one of the two", word, list.name, c.Class, list.effect)
			}
		}
	}
	return nil
}
