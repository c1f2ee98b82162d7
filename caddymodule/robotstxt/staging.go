package robotstxt

import (
	"errors"
	"fmt"
	"strings"
)

// validateStaging returns an error for invalid staging hosts.
func (h *Handler) validateStaging() error {
	if len(h.StagingHosts) > 0 && !h.Staging {
		return errors.New("staging_hosts has no effect without staging")
	}
	for _, host := range h.StagingHosts {
		switch {
		case host == "on" || host == "off":
			return fmt.Errorf("staging takes hosts, and not %q; write staging alone for all hosts of the site, or remove it", host)
		case host == "" || strings.ContainsAny(host, "/: "):
			return fmt.Errorf("staging: %q is not a host; write a host without a port, for example staging.example.com", host)
		}
	}
	return nil
}

// checkStaging returns an error if the site lacks a staging host, or if staging would close a
// production host of the site. hosts are the hosts of the site; none means any host.
func (h *Handler) checkStaging(hosts, production []string) error {
	if !h.Staging {
		return nil
	}
	if err := checkHosts("staging", h.StagingHosts, hosts); err != nil {
		return err
	}
	isOfSite, isStaging := hostMatcher(hosts), hostMatcher(h.StagingHosts)
	for _, host := range production {
		if isOfSite(host) && isStaging(host) {
			return fmt.Errorf("staging would close %s to all crawlers, but the global option production names this host; "+
				"remove staging, or write the test hosts after it, such as staging staging.example.com", host)
		}
	}
	return nil
}
