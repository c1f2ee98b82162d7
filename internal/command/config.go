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

// Config gives the commands access to the module and to configurations.
type Config struct {
	// FetchTimeout is the timeout of the server for a fetch of a robots.txt.
	FetchTimeout time.Duration
	// Sites returns at least one site with a robots_guard in a configuration file, and the registry
	// with the changes of the file. The adapter may be "".
	Sites func(file, adapter string) ([]Site, *uaident.Registry, error)
	// Verification returns how a configuration file verifies claims. "" means the defaults.
	Verification func(file string) (*Verification, error)
	// CheckManaged checks the output of at least one robots_txt in a configuration file. The
	// adapter may be "". A non-nil base replaces the configured bases.
	CheckManaged func(file, adapter string, base []byte) ([]ManagedCheck, error)
}

// ManagedCheck is the result of a check of a robots_txt.
type ManagedCheck struct {
	Hosts []string `json:"hosts"` // empty for any host
	managed.CheckReport
	HasErrors bool `json:"stopped"` // the gate stops one of the findings
}

// Site is the configuration of a site with a robots_guard.
type Site struct {
	Hosts            []string // empty for any host
	Listen           []string // the addresses of the server
	IsRedirectTarget bool     // automatic HTTPS redirects http requests to this site
	HasMatchers      bool     // whether the robots_guard has matchers other than hosts
	Source           string   // the URL or file of the robots.txt; "" for the robots.txt of the site
	Settings         judge.Settings
	Err              error // the error if the settings are invalid
	Grace            time.Duration
	Rate             *rate.Settings // nil if the guard does not measure request rates
}

// hostNames names the site in a message.
func (s *Site) hostNames() string { return strings.Join(s.Hosts, ", ") }

// sameSettings reports whether two sites have the same settings, as a site with both http and https does.
func (s *Site) sameSettings(other *Site) bool {
	a, b := *s, *other
	for _, site := range []*Site{&a, &b} {
		site.Hosts, site.Listen, site.IsRedirectTarget = nil, nil, false
	}
	return reflect.DeepEqual(a, b)
}

// Verification has the settings for verifying clients.
type Verification struct {
	Registry      *uaident.Registry
	Enabled       bool              // whether verification is on
	Signatures    bool              // whether to verify signatures
	SigningAgents map[string]string // signing agents with their operators
	Verifier      verify.Config
}

// findSite returns the site of a URL, or the only site if the URL has no host. A site on the port of
// the URL has precedence, see [site.FindHandler]. An https site for the host has precedence over
// http sites for any host, because Caddy redirects. several reports whether another site with
// different settings also matches.
func findSite(sites []Site, url string) (found *Site, several bool, err error) {
	host := site.HostOfURL(url)
	if host == "" && len(sites) == 1 {
		return &sites[0], false, nil
	}
	best := 0
	httpsURL, isRedirected := followHTTPSRedirect(url)
	for i := range sites {
		s := &sites[i]
		fits := site.HostMatchScore(s.Hosts, host)
		if fits == 0 {
			continue
		}
		named := len(s.Hosts) > 0
		switch listens := site.ListensOnPortOfURL(s.Listen, url); { // in the order of Caddy's routes
		case named && listens:
			fits += 6
		case listens, named && s.IsRedirectTarget && isRedirected && site.ListensOnPortOfURL(s.Listen, httpsURL):
			fits += 4
		}
		switch {
		case fits > best:
			found, best, several = s, fits, false
		case fits == best && !found.sameSettings(s):
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

// followHTTPSRedirect returns the target of the automatic HTTPS redirect of an http URL. ok is false for a
// URL with a port.
func followHTTPSRedirect(url string) (httpsURL string, ok bool) {
	authority := site.HostAsSent(addr.AuthorityOfURL(url), false)
	if _, port := addr.SplitPort(authority); port != "" || len(url) < 5 || !strings.EqualFold(url[:5], "http:") {
		return "", false
	}
	return "https://" + authority, true
}

// checkConfigFile returns an error for an invalid name of a configuration file. "" means no file and -
// means standard input.
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

// sites returns the sites with a robots_guard in a configuration file, and the registry with the
// changes of the file.
func (c *Config) sites(file, adapter string) ([]Site, *uaident.Registry, error) {
	if err := checkConfigFile(file); err != nil {
		return nil, nil, err
	}
	sites, registry, err := c.Sites(file, adapter)
	return sites, registry, addConfigName(file, err)
}

// addConfigName adds the name of the configuration file to an error without the name.
func addConfigName(file string, err error) error {
	if err == nil || strings.Contains(err.Error(), file) {
		return err
	}
	return fmt.Errorf("--config %s: %w", file, err)
}
