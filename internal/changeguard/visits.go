package changeguard

import "github.com/robotsguard/caddy-robots-guard/internal/ledger"

// HasUser reports whether c has a user.
func (c *Changes) HasUser() bool { return c.users.Load() > 0 }

// Visits returns the pages of configured sites that search engines were served recently.
func (c *Changes) Visits() (visits []ledger.Visit) {
	now := c.now()
	for _, key := range c.Sites() {
		if site := c.Site(key); site != nil {
			site.mu.Lock()
			visits = append(visits, site.servedPages.Recent(now)...)
			site.mu.Unlock()
		}
	}
	return visits
}
