package caddymodule

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
)

// Decide says that a robots_guard answers another proxy whether a request may pass,
// which that proxy describes.
type Decide struct {
	// How the request is described: `forwarded` by X-Forwarded-Method, -Proto, -Host and
	// -Uri, or by X-Original-Method and -URI or -URL in place of theirs.
	By string `json:"by"`

	// The hosts that the proxy serves, such as `example.com` or `*.example.org`. Others
	// are judged, too, and counted as `_other`: by a robots.txt of their own, unless the
	// host stands in the authority of `source`; then by that of the first of these.
	Hosts []string `json:"hosts,omitempty"`
}

// forwarded is the one word of Decide.By.
const forwarded = "forwarded"

// decideOption is the option decide of robots_guard.
func decideOption(into **Decide) option.Option {
	return option.Option{
		Name: "decide", Usage: "forwarded, and perhaps the hosts that the proxy serves, such as forwarded example.com *.example.org",
		Set: func(args []string) error {
			if len(args) == 0 {
				return option.ErrCount
			}
			*into = &Decide{By: args[0], Hosts: args[1:]}
			return nil
		},
	}
}

// Validate checks it by itself. d may be nil.
func (d *Decide) Validate() error {
	if d == nil {
		return nil
	}
	if d.By != forwarded {
		return fmt.Errorf("%w %q for decide; use forwarded, and perhaps hosts behind it", option.ErrValue, d.By)
	}
	for i, host := range d.Hosts {
		if host == "" || strings.ContainsAny(host, "/:{}@ ") {
			return fmt.Errorf("decide: %q is no host; write it without a scheme and a port, such as example.com or *.example.com", host)
		}
		if slices.Contains(d.Hosts[:i], host) {
			return fmt.Errorf("decide names %s twice", host)
		}
	}
	return nil
}

// ValidateWith checks it with what else is set. d may be nil.
func (d *Decide) ValidateWith(from, shadow *Location, onViolation caddyhttp.RouteList) error {
	switch {
	case shadow.HasHost():
		return errors.New("shadow: one text is tried for all hosts, so there is no {host} in it")
	case d == nil && from.HasHost():
		return errors.New("source: {host} stands for the host that a proxy asks about, so it means something with decide only")
	case d == nil:
		return nil
	case from == nil:
		return errors.New("decide needs a source: the site is not here, so its robots.txt cannot be read here; " +
			"write source https://{host}/robots.txt, or that of your application, such as source http://10.0.0.5:8080/robots.txt host {host}")
	case len(onViolation) > 0:
		return errors.New("decide and on_violation contradict each other: the proxy makes the answer, and would pass a page for one that lets the crawler pass; " +
			"use status, and write the page into the configuration of the proxy")
	case origin.ChoosesServer(from.URL) && d.defaultHost() == "":
		return errors.New("decide has to name the hosts of the proxy, at least one without a *: with source " + from.URL +
			" whoever makes up another host would choose whose robots.txt counts; write decide forwarded example.com")
	}
	return nil
}

// defaultHost returns the host whose robots.txt other hosts use, "" if there is none.
func (d *Decide) defaultHost() string {
	for _, host := range d.Hosts {
		if !strings.Contains(host, "*") {
			return strings.ToLower(host)
		}
	}
	return ""
}

// Apply makes a guard one that decides. d may be nil.
func (d *Decide) Apply(c *guard.Config) {
	if d != nil {
		c.ForwardAuth = request.HostsOfServer(nil)
		c.ForwardAuth.Add(d.Hosts)
		if origin.ChoosesServer(c.SourceKey) {
			c.DefaultHost = d.defaultHost()
		}
	}
}
