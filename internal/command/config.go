package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Config is what the commands learn from the module of which they tell.
type Config struct {
	// FetchTimeout is how long the server lets reading a robots.txt take.
	FetchTimeout time.Duration
	// Sites returns the sites with a robots_guard in a configuration file, of
	// which there is at least one, and the registry as the file changes it. The
	// adapter may be "".
	Sites func(file, adapter string) ([]Site, *uaident.Registry, error)
	// Verification returns how claims are verified by a configuration file, by
	// default for "".
	Verification func(file string) (*Verification, error)
	// Rules returns what is found in the texts that each robots_txt of a
	// configuration file makes, of which there is at least one. The adapter may be
	// "". The base takes the place of the configured ones unless it is nil.
	Rules func(file, adapter string, base []byte) ([]Rules, error)
}

// Rules is what was found in the texts of one robots_txt.
type Rules struct {
	Hosts  []string // none for any
	Gate   managed.Gate
	Report managed.Report
}

// Site is what a configuration says of a site with a robots_guard.
type Site struct {
	Hosts    []string // none for any
	Listen   []string // the addresses of its server
	LedTo    bool     // automatic HTTPS redirects requests by http to that
	Matched  bool     // whether other matchers than hosts stand before the robots_guard
	Source   string   // the URL or the file of its robots.txt, "" for the site's own
	Settings judge.Settings
	Err      error // why the settings cannot be used
	Grace    time.Duration
	Rate     *rate.Settings // nil if it does not look at how fast crawlers ask
}

// name names the site in a message.
func (s *Site) name() string { return strings.Join(s.Hosts, ", ") }

// isLike reports whether another site says the same, as one does that is both by http and https.
func (s *Site) isLike(other *Site) bool {
	a, b := *s, *other
	for _, site := range []*Site{&a, &b} {
		site.Hosts, site.Listen, site.LedTo = nil, nil, false
	}
	return reflect.DeepEqual(a, b)
}

// Verification is how the claims of clients are verified.
type Verification struct {
	Registry   *uaident.Registry
	On         bool              // whether they are at all
	Signatures bool              // whether signatures count
	Agents     map[string]string // the agents that sign, with their operators
	Verifier   verify.Config
}

// siteFor returns the site that a URL is of, the only one if the URL names no
// host. One that listens at its port comes before others, as for [request.Find]; one that
// names the host and has https alone, before those by http that take any, for Caddy redirects
// there. several says that another one may be meant just as well, which says something else.
func (c *Config) siteFor(sites []Site, url string) (found *Site, several bool, err error) {
	host := request.HostOf(url)
	if host == "" && len(sites) == 1 {
		return &sites[0], false, nil
	}
	best := 0
	led, isLed := ledToHTTPS(url)
	for i := range sites {
		s := &sites[i]
		fits := request.HostFits(s.Hosts, host)
		if fits == 0 {
			continue
		}
		named := len(s.Hosts) > 0
		switch listens := request.Listens(s.Listen, url); { // in the order in which Caddy has routes
		case named && listens:
			fits += 6
		case listens, named && s.LedTo && isLed && request.Listens(s.Listen, led):
			fits += 4
		}
		switch {
		case fits > best:
			found, best, several = s, fits, false
		case fits == best && !found.isLike(s):
			several = true
		}
	}
	if found != nil && host != "" {
		return found, several, nil
	}
	var names []string
	for i := range sites {
		if name := sites[i].name(); name != "" {
			names = append(names, name)
		}
	}
	if host == "" {
		return nil, false, errors.New("several sites use robots_guard; give the whole URL to choose one of " + strings.Join(names, ", "))
	}
	return nil, false, fmt.Errorf("no robots_guard is for %s; there are sites for %s", host, strings.Join(names, ", "))
}

// ledToHTTPS returns where automatic HTTPS redirects a URL by http, unless that has a port.
func ledToHTTPS(url string) (led string, ok bool) {
	authority := request.AsSent(addr.Authority(url), false)
	if _, port := addr.CutPort(authority); port != "" || len(url) < 5 || !strings.EqualFold(url[:5], "http:") {
		return "", false
	}
	return "https://" + authority, true
}

// checkConfig says what is wrong with the name of a configuration file, "" and -
// for none and standard input.
func checkConfig(name string) error {
	if name == "" || name == "-" {
		return nil
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s; --config takes a Caddyfile or a JSON configuration", name)
	case err != nil:
		return fmt.Errorf("--config: %w", err)
	case info.IsDir():
		return fmt.Errorf("%s is a directory; --config takes the file in it, such as %s", name, filepath.Join(name, "Caddyfile"))
	}
	return nil
}

// sites returns the sites with a robots_guard in a configuration file, and the
// registry as that changes it.
func (c *Config) sites(file, adapter string) ([]Site, *uaident.Registry, error) {
	if err := checkConfig(file); err != nil {
		return nil, nil, err
	}
	sites, registry, err := c.Sites(file, adapter)
	return sites, registry, ofConfig(file, err)
}

// ofConfig names the configuration file in an error that does not.
func ofConfig(file string, err error) error {
	if err == nil || strings.Contains(err.Error(), file) {
		return err
	}
	return fmt.Errorf("--config %s: %w", file, err)
}
