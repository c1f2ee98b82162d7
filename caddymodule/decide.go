package caddymodule

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
)

// Decide lets robots_guard decide for another proxy. The proxy describes a request of its
// client in headers, and the guard answers whether the request may pass.
type Decide struct {
	// How the proxy describes the request. `forwarded` reads X-Forwarded-Method,
	// X-Forwarded-Proto, X-Forwarded-Host and X-Forwarded-Uri. `forwarded` also accepts
	// X-Original-Method with X-Original-URI or X-Original-URL.
	By string `json:"by"`

	// The hosts that the proxy serves, such as `example.com` or `*.example.org`. Requests for other
	// hosts are reported as `_other`. The guard evaluates such requests by the robots.txt of their
	// own host. If the authority of `source` contains `{host}`, the guard uses the robots.txt of
	// the first of these hosts instead.
	Hosts []string `json:"hosts,omitempty"`
}

// forwarded is the only value of Decide.By.
const forwarded = "forwarded"

// decideOption returns the option decide of robots_guard, which sets *into.
func decideOption(into **Decide) option.Option {
	return option.Option{
		Name: "decide", Usage: "forwarded, and perhaps the hosts that the proxy serves, such as forwarded example.com *.example.org",
		ParseArguments: func(args []string) error {
			if len(args) == 0 {
				return option.ErrCount
			}
			*into = &Decide{By: args[0], Hosts: args[1:]}
			return nil
		},
	}
}

// Validate returns an error for invalid values. A nil *Decide is valid.
func (d *Decide) Validate() error {
	if d == nil {
		return nil
	}
	if d.By != forwarded {
		return fmt.Errorf("%w %q for decide; write decide forwarded, optionally followed by hosts", option.ErrValue, d.By)
	}
	for i, host := range d.Hosts {
		if host == "" || strings.ContainsAny(host, "/:{}@ ") {
			return fmt.Errorf("decide: invalid host %q; use a host without scheme and port, such as example.com or *.example.com", host)
		}
		if slices.Contains(d.Hosts[:i], host) {
			return fmt.Errorf("decide names %s twice", host)
		}
	}
	return nil
}

// ValidateWithOptions returns an error if decide contradicts other options of the handler. It also
// checks {host}, which only decide replaces. A nil *Decide is valid.
func (d *Decide) ValidateWithOptions(from, shadow *Location, onViolation caddyhttp.RouteList) error {
	switch {
	case shadow.HasHost():
		return errors.New("shadow: all hosts share one shadow robots.txt; remove {host}")
	case d == nil && from.HasHost():
		return errors.New("source: {host} is the host of a request that a proxy describes; write it only with the option decide")
	case d == nil:
		return nil
	case from == nil:
		return errors.New("decide needs a source, because this server does not serve the site or its robots.txt; " +
			"write source https://{host}/robots.txt, or the URL of your application, such as source http://10.0.0.5:8080/robots.txt host {host}")
	case len(onViolation) > 0:
		return errors.New("decide and on_violation contradict each other: the proxy sends the response, and takes a page from this server as permission for the crawler; " +
			"use status, and write the page into the configuration of the proxy")
	case site.HostSelectsServer(from.URL) && d.defaultHost() == "":
		return errors.New("decide must name the hosts of the proxy, at least one without a *: with source " + from.URL +
			" a client could choose the robots.txt by sending another Host; write decide forwarded example.com")
	}
	return nil
}

// defaultHost returns the first host without a wildcard, or "". Requests for unknown hosts use the
// robots.txt of this host.
func (d *Decide) defaultHost() string {
	for _, host := range d.Hosts {
		if !strings.Contains(host, "*") {
			return strings.ToLower(host)
		}
	}
	return ""
}

// siteHosts returns the hosts that the proxy serves.
func (d *Decide) siteHosts() *site.Hosts {
	hosts := site.NewHosts(nil)
	hosts.AddNames(d.Hosts)
	return hosts
}

// siteLabels returns the labels of the sites in reports. The last is [judge.OtherName], for all
// other hosts.
func (d *Decide) siteLabels() []string {
	return append(d.siteHosts().LabelsForRoute(d.Hosts), judge.OtherName)
}

// ConfigureGuard configures a guard to decide for another proxy. A nil *Decide changes nothing.
func (d *Decide) ConfigureGuard(c *guard.Config) {
	if d != nil {
		c.ForwardAuth = d.siteHosts()
		if site.HostSelectsServer(c.SourceKey) {
			c.DefaultHost = d.defaultHost()
		}
	}
}
