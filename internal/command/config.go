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
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Config gives the commands access to configuration files and to settings of the module.
type Config struct {
	// FetchTimeout is the default timeout of a server for a fetch of a robots.txt. The commands
	// wait twice as long.
	FetchTimeout time.Duration
	// Sites returns the sites with a robots_guard in a configuration file, at least one, and the
	// crawler registry with the additions of the file. The adapter may be "".
	Sites func(file, adapter string) ([]Site, *uaident.Registry, error)
	// Verification returns the settings in a configuration file for verifying crawlers. The name ""
	// means the default settings.
	Verification func(file string) (*Verification, error)
	// CheckManaged composes and checks the robots.txt of each robots_txt directive in a
	// configuration file, at least one. The adapter may be "". A non-nil base replaces the
	// configured base files, to which robots_txt adds rules.
	CheckManaged func(file, adapter string, base []byte) ([]ManagedCheck, error)
}

// ManagedCheck is the result of checking what a robots_txt directive will serve.
type ManagedCheck struct {
	Hosts []string `json:"hosts"` // Hosts is empty if the site is for any host.
	managed.CheckReport
	HasErrors bool `json:"stopped"` // HasErrors is true if the gate stops one of the findings.
}

// Site is the configuration of a site with a robots_guard.
type Site struct {
	Hosts            []string // Hosts is empty if the site is for any host.
	Listen           []string // Listen has the listener addresses of the server.
	IsRedirectTarget bool     // IsRedirectTarget is true if automatic HTTPS redirects http requests to this site.
	HasMatchers      bool     // HasMatchers is true if the robots_guard has matchers other than hosts.
	Source           string   // Source is the URL or file of the robots.txt, or "" for the robots.txt of the site.
	Settings         judge.Settings
	Err              error // Err is the error if the settings are invalid.
	Grace            time.Duration
	Rate             *rate.Settings // Rate is nil if the guard does not measure request rates.
}

// hostNames returns the hosts of the site, separated by commas, for messages. It is "" for a site
// for any host.
func (s *Site) hostNames() string { return strings.Join(s.Hosts, ", ") }

// hasSameSettings reports whether two sites differ only in their hosts and addresses. An example is
// a site with both http and https.
func (s *Site) hasSameSettings(other *Site) bool {
	a, b := *s, *other
	for _, site := range []*Site{&a, &b} {
		site.Hosts, site.Listen, site.IsRedirectTarget = nil, nil, false
	}
	return reflect.DeepEqual(a, b)
}

// Verification has the settings of a configuration file for verifying crawlers.
type Verification struct {
	Registry      *uaident.Registry
	Enabled       bool
	Signatures    bool
	SigningAgents map[string]string // The key is the URL of a signing agent, and the value is its operator.
	Verifier      verify.Config
}

// findSite returns the configured site for a URL. For a URL without a host it returns the only
// site. If several sites match, a site on the port of the URL has precedence, see
// [site.FindHandler]. An https site for the host has precedence over http sites for any host,
// because Caddy redirects http requests. several reports whether another site with other settings
// has the same precedence.
func findSite(sites []Site, url string) (found *Site, several bool, err error) {
	host := site.HostOfURL(url)
	if host == "" && len(sites) == 1 {
		return &sites[0], false, nil
	}
	best := 0
	httpsURL, isRedirected := httpsRedirectTarget(url)
	for i := range sites {
		s := &sites[i]
		fits := site.HostMatchScore(s.Hosts, host)
		if fits == 0 {
			continue
		}
		named := len(s.Hosts) > 0
		switch listens := site.ListensOnPortOfURL(s.Listen, url); { // The sites are in the order of Caddy's routes.
		case named && listens:
			fits += 6
		case listens, named && s.IsRedirectTarget && isRedirected && site.ListensOnPortOfURL(s.Listen, httpsURL):
			fits += 4
		}
		switch {
		case fits > best:
			found, best, several = s, fits, false
		case fits == best && !found.hasSameSettings(s):
			several = true
		}
	}
	if found != nil && host != "" {
		return found, several, nil
	}
	var names []string
	for i := range sites {
		if name := sites[i].hostNames(); name != "" {
			names = append(names, name)
		}
	}
	if host == "" {
		return nil, false, errors.New("several sites use robots_guard; give the whole URL to choose one of " + strings.Join(names, ", "))
	}
	return nil, false, fmt.Errorf("no robots_guard is configured for %s; configured sites: %s", host, strings.Join(names, ", "))
}

// httpsRedirectTarget returns the https URL to which Caddy redirects an http URL. ok is false if
// the URL has a port or is not http.
func httpsRedirectTarget(url string) (httpsURL string, ok bool) {
	authority := site.HostAsSent(addr.AuthorityOfURL(url), false)
	if _, port := addr.SplitPort(authority); port != "" || len(url) < 5 || !strings.EqualFold(url[:5], "http:") {
		return "", false
	}
	return "https://" + authority, true
}

// checkConfigFile returns an error if the configuration file does not exist or is a directory. The
// names "" (no file) and - (standard input) are valid.
func checkConfigFile(name string) error {
	if name == "" || name == "-" {
		return nil
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("file %s not found; --config takes a Caddyfile or a JSON configuration", name)
	case err != nil:
		return fmt.Errorf("--config: %w", err)
	case info.IsDir():
		return fmt.Errorf("%s is a directory; --config takes the file in it, such as %s", name, filepath.Join(name, "Caddyfile"))
	}
	return nil
}

// readSites checks that the configuration file exists, and returns the results of c.Sites. Its
// errors name the file.
func (c *Config) readSites(file, adapter string) ([]Site, *uaident.Registry, error) {
	if err := checkConfigFile(file); err != nil {
		return nil, nil, err
	}
	sites, registry, err := c.Sites(file, adapter)
	return sites, registry, addConfigName(file, err)
}

// addConfigName adds the name of the configuration file to an error, unless the message contains
// the name.
func addConfigName(file string, err error) error {
	if err == nil || strings.Contains(err.Error(), file) {
		return err
	}
	return fmt.Errorf("--config %s: %w", file, err)
}
