package robotstxt

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
)

// validateStaging checks everything that does not need the site. The word staging alone enables
// staging.
func (h *Handler) validateStaging() error {
	if len(h.StagingHosts) > 0 && !h.Staging {
		return errors.New("staging_hosts has no effect without staging")
	}
	for _, host := range h.StagingHosts {
		switch {
		case host == "on" || host == "off":
			return fmt.Errorf("staging takes hosts, and not %q; write staging alone for all hosts of the site, or remove it", host)
		case host == "" || strings.ContainsAny(host, "/: "):
			return fmt.Errorf("staging: %q is not a host; write one such as staging.example.com, without a port", host)
		}
	}
	return nil
}

// checkStaging returns an error if a production host would be a staging host. hosts are those of the
// site. No hosts means any host.
func (h *Handler) checkStaging(hosts, production []string) error {
	if !h.Staging {
		return nil
	}
	for _, host := range production {
		if haveCommon(host, hosts) && haveCommon(host, h.StagingHosts) {
			return fmt.Errorf("staging would close %s to all crawlers, but the global option production names this host; "+
				"remove staging, or write the test hosts after it, such as staging staging.example.com", host)
		}
	}
	return nil
}

// warnStaging logs staging hosts that the site does not have. A mistyped host would not be closed.
// hosts are those of the site. No hosts means any host.
func (h *Handler) warnStaging(hosts []string, logger *zap.Logger) {
	for _, host := range h.StagingHosts {
		if !haveCommon(host, hosts) {
			logger.Warn(fmt.Sprintf("staging %s has no effect: this site has %s; %s",
				host, strings.Join(hosts[:min(len(hosts), 5)], ", "), cmp.Or(nearHost(host, hosts), "write robots_txt into the site of that host")))
		}
	}
}

// haveCommon reports whether a host overlaps with some hosts or wildcards. No hosts means all hosts.
func haveCommon(host string, some []string) bool {
	return len(some) == 0 || slices.ContainsFunc(some, func(other string) bool { return covers(host, other) || covers(other, host) })
}

// covers reports whether a host or wildcard matches another host.
func covers(wildcard, host string) bool {
	of := site.HostsOfServer(nil)
	of.Add([]string{wildcard})
	label, _ := of.Label(site.NormalHost(host, false))
	return label != judge.OtherName
}
