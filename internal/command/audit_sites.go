package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/replay"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
)

// hostToAudit is a host whose requests are audited, and the configured site for its requests.
type hostToAudit struct {
	name string // name is as [replay.NormalizeHost] returns it. It is "" or a pattern only if there is one site.
	site *Site
}

// configureReplay sets the options for --config, if given, and reads the robots.txt. The notes are
// for the end of the audit report.
func (a *auditRunner) configureReplay(ctx context.Context, o *replay.Options) (notes []string, err error) {
	if a.configFile == "" {
		return nil, a.readRobots(ctx, o)
	}
	sites, registry, err := a.config.readSites(a.configFile, a.adapter)
	if err != nil {
		return nil, err
	}
	o.Registry = registry
	hosts, notes, err := a.hostsToAudit(sites)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.configFile, err)
	}
	first := hosts[0].site
	hasMatchers := false
	for _, host := range hosts {
		if host.site.Err != nil {
			return nil, fmt.Errorf("%s: %w", a.configFile, host.site.Err)
		}
		hasMatchers = hasMatchers || host.site.HasMatchers
		a.judgeByHost = a.judgeByHost || host.site != first
		if a.rate && !reflect.DeepEqual(host.site.Rate, first.Rate) {
			return nil, fmt.Errorf("%s: the sites have different rate limits; choose one site with --site", a.configFile)
		}
	}
	if a.rate && first.Rate != nil {
		enforced := *first.Rate
		enforced.Enforce = true
		o.Rate = &enforced
	}
	if hasMatchers {
		notes = append(notes, "robots_guard in "+a.configFile+" has matchers other than the host; the audit assumes that all requests match.")
	}
	if a.judgeByHost {
		unread, err := a.readRobotsByHost(ctx, hosts, o)
		return append(notes, unread...), err
	}
	o.Settings, o.Grace = first.Settings, first.Grace
	a.robots = cmp.Or(a.robots, first.Source)
	if len(o.Sites) == 0 && !slices.ContainsFunc(first.Hosts, isHostPattern) {
		o.Sites = slices.Clone(first.Hosts)
	}
	return notes, a.readRobots(ctx, o)
}

// readRobots sets o.Versions to the robots.txt of --robots, or to the fetched robots.txt of the
// first audited site.
func (a *auditRunner) readRobots(ctx context.Context, o *replay.Options) error {
	name := a.robots
	switch {
	case name == "" && len(o.Sites) == 0:
		return errors.New("no robots.txt given; name it with --robots, or its site with --site")
	case name == "":
		name = robotsURL(o.Sites[0])
	case name == "-":
		return errors.New("--robots cannot be standard input; name a file")
	}
	versions, site, err := a.config.readVersions(ctx, name)
	if err != nil {
		return err
	}
	if site != "" && len(o.Sites) == 0 {
		o.Sites = []string{site}
	}
	o.Versions = versions
	return nil
}

// robotsURL returns the URL of the robots.txt of a site. The site is a host name or any URL of the
// site.
func robotsURL(site string) string {
	if !isURL(site) {
		return "https://" + site + "/robots.txt"
	}
	scheme, rest, _ := strings.Cut(site, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return scheme + "://" + rest + "/robots.txt"
}

// isHostPattern reports whether a host in a configuration has a wildcard or a placeholder, so that
// it can match several hosts.
func isHostPattern(host string) bool { return strings.ContainsAny(host, "*{") }

// hostsToAudit returns at least one host to audit: the hosts of --site, or else all hosts in the
// configuration. The notes name the hosts that are left out.
func (a *auditRunner) hostsToAudit(sites []Site) (hosts []hostToAudit, notes []string, err error) {
	switch {
	case len(a.sites) > 0:
		return a.hostsFromFlags(sites)
	case len(sites) == 1:
		return []hostToAudit{{site: &sites[0]}}, nil, nil
	}
	known := make(map[string]*Site)
	var skipped []string
	for i := range sites {
		site := &sites[i]
		if len(site.Hosts) == 0 {
			skipped = append(skipped, "sites without a host")
		}
		for _, name := range site.Hosts {
			name = replay.NormalizeHost(name)
			switch first := known[name]; {
			case isHostPattern(name):
				skipped = append(skipped, name)
			case first == nil:
				known[name] = site
				hosts = append(hosts, hostToAudit{name, site})
			case !first.hasSameSettings(site):
				notes = append(notes, a.firstGuardNote(name))
			}
		}
	}
	if len(skipped) > 0 {
		notes = append(notes, "Not audited: "+strings.Join(skipped, ", ")+". Name a host with --site to audit it.")
	}
	if len(hosts) == 0 {
		return nil, nil, errors.New("several sites use robots_guard; choose one with --site")
	}
	return hosts, notes, nil
}

// hostsFromFlags returns each host of --site with the configured site for its requests. If several
// configured sites have a host, hostsFromFlags returns the first, and notes says so.
func (a *auditRunner) hostsFromFlags(sites []Site) (hosts []hostToAudit, notes []string, err error) {
	for _, name := range a.sites {
		if !isURL(name) {
			name = "any://" + name // This matches any scheme and port.
		}
		s, several, err := findSite(sites, name)
		if err != nil {
			return nil, nil, err
		}
		host := site.HostOfURL(name)
		if several {
			notes = append(notes, a.firstGuardNote(host))
		}
		hosts = append(hosts, hostToAudit{host, s})
	}
	return hosts, notes, nil
}

// firstGuardNote returns the note that a host has several robots_guard.
func (a *auditRunner) firstGuardNote(host string) string {
	return a.configFile + " has several robots_guard for " + host + "; the audit uses the first."
}

// readRobotsByHost adds the robots.txt of each host to o.Versions, with the settings for the host.
// The notes name the hosts whose robots.txt cannot be read.
func (a *auditRunner) readRobotsByHost(ctx context.Context, hosts []hostToAudit, o *replay.Options) (notes []string, err error) {
	var given []replay.Version
	if a.robots != "" {
		if given, _, err = a.config.readVersions(ctx, a.robots); err != nil {
			return nil, err
		}
	}
	for _, host := range hosts {
		versions := given
		if a.robots == "" {
			if versions, _, err = a.config.readVersions(ctx, cmp.Or(host.site.Source, robotsURL(host.name))); err != nil {
				notes = append(notes, "Requests for "+host.name+" were not judged: "+err.Error()+".")
			}
		}
		for _, v := range versions {
			if v.Host == "" || v.Host == host.name {
				v.Host, v.Settings, v.Grace = host.name, &host.site.Settings, host.site.Grace
				o.Versions = append(o.Versions, v)
			}
		}
	}
	if len(o.Versions) == 0 {
		return nil, cmp.Or(err, errors.New(a.robots+" has no robots.txt of a configured host"))
	}
	return notes, nil
}
