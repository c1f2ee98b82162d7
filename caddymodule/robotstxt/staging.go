package robotstxt

import (
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/caddymodule"
)

// checkStaging makes sure that no production host is closed as one for tests.
func (h *Handler) checkStaging(ctx caddy.Context, app *caddymodule.App) error {
	if !h.Staging || len(app.Production) == 0 {
		return nil
	}
	texts, err := app.Texts(ctx, nameOf)
	if err != nil {
		return err
	}
	hosts := texts.HostsOf(h.key())
	for _, host := range app.Production {
		if haveCommon(host, hosts) && haveCommon(host, h.StagingHosts) {
			return fmt.Errorf("staging would close %s to all crawlers, which the global option production names; "+
				"remove staging, or name the hosts that are for tests behind it, such as staging staging.example.com", host)
		}
	}
	return nil
}

// haveCommon reports whether a host is one of some, each of which may be a wildcard;
// none stands for all.
func haveCommon(host string, some []string) bool {
	return len(some) == 0 || slices.ContainsFunc(some, func(other string) bool {
		return someBelow(host, []string{other}) || someBelow(other, []string{host})
	})
}
