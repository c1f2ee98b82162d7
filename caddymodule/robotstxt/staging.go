package robotstxt

import (
	"fmt"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
)

// checkStaging makes sure that no production host is closed as one for tests. hosts are
// those of the site, none for any.
func (h *Handler) checkStaging(hosts, production []string) error {
	if !h.Staging {
		return nil
	}
	for _, host := range production {
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
	return len(some) == 0 || slices.ContainsFunc(some, func(other string) bool { return covers(host, other) || covers(other, host) })
}

// covers reports whether a host, perhaps a wildcard, stands for another one.
func covers(wildcard, host string) bool {
	of := request.HostsOfServer(nil)
	of.Add([]string{wildcard})
	label, _ := of.Label(request.NormalHost(host, false))
	return label != judge.OtherName
}
