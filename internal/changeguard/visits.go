package changeguard

import "github.com/robotsguard/caddy-robots-guard/internal/ledger"

// IsGuarded reports whether c has a user.
func (c *Changes) IsGuarded() bool { return c.guards.Load() > 0 }

// Visits returns the pages of configured sites that search engines were served recently.
func (c *Changes) Visits() (all []ledger.Visit) {
	now := c.now()
	for _, key := range c.Sites() {
		if site := c.Site(key); site != nil {
			site.mu.Lock()
			all = append(all, site.served.Recent(now)...)
			site.mu.Unlock()
		}
	}
	return all
}
