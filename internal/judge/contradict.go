package judge

import (
	"fmt"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// CheckEnforced tells of names that are to be blocked and whose class another option leaves
// alone, so that they never are. Whom a class has is told only with a registry.
func (s *Settings) CheckEnforced(registry *uaident.Registry, enforced []string) error {
	if registry == nil {
		return nil
	}
	for _, word := range enforced {
		c := CrawlerOf(registry, word)
		if c == nil {
			continue
		}
		for _, other := range []struct {
			name, so string
			clients  *Clients
		}{{"exempt", "it is never judged", &s.Exempt}, {"only_log", "it is never blocked", &s.OnlyLog}} {
			if other.clients.claimed.classes.Has(c.Class) {
				return fmt.Errorf("%s is in enforce, and %s has %s, its class, so that %s; keep it in one of them", word, other.name, c.Class, other.so)
			}
		}
	}
	return nil
}
