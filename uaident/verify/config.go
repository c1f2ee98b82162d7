package verify

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/spelling"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Config says which methods are used, and for whom. The zero value switches
// everything off: each claim is then [Claimed].
type Config struct {
	// Crawlers are the entries whose claims can be verified, normally all of a
	// registry: [uaident.Registry.Crawlers].
	Crawlers []uaident.Crawler
	// Ranges switches on the lists of addresses that the entries name. They are
	// fetched by [Verifier.Run].
	Ranges bool
	// ReverseDNS switches on look-ups by the domains that the entries name.
	ReverseDNS bool
	// Lists are further lists of addresses. They are used even if Ranges is
	// false, and stand beside those of the entries.
	Lists []List
	// Domains are further domains for reverse DNS. They are used even if
	// ReverseDNS is false, and stand beside those of the entries.
	Domains []Domain
	// DNSServer is the address of the DNS server to ask, an IP address with or
	// without a port; "" means those that the system is configured with.
	DNSServer string
}

// Confirms reports whether there is any method by which a claim could be confirmed.
func (c *Config) Confirms() bool {
	return c.Ranges || c.ReverseDNS || len(c.Lists)+len(c.Domains) > 0
}

// List is a list of addresses that the owner of a site names.
type List struct {
	// For is the token or an alias of a crawler, or the name of an operator,
	// in any case. A crawler's list also counts for those of the same operator
	// that have it as a fallback: Googlebot's for Googlebot-Image.
	For string
	// File is the path of a file, or URL is an https URL. One of them must be set.
	File, URL string
}

// Domain is a domain that the owner of a site names.
type Domain struct {
	// For is as in [List].
	For string
	// Suffix is the domain, with or without a leading dot: what the names of the
	// crawler's addresses end with, below it.
	Suffix string
}

// Validate returns an error for each part of c that cannot be used. It reads no
// file and asks nobody.
func (c *Config) Validate() error {
	var errs []error
	for _, l := range c.Lists {
		if err := l.validate(); err != nil {
			errs = append(errs, err)
		}
		if !c.names(l.For) {
			errs = append(errs, fmt.Errorf("list of addresses for %q: no known crawler or operator has this name", l.For))
		}
	}
	for _, d := range c.Domains {
		if _, err := cleanSuffix(d.Suffix); err != nil {
			errs = append(errs, fmt.Errorf("domain for %s: %w", d.For, err))
		}
		if !c.names(d.For) {
			errs = append(errs, fmt.Errorf("domain for %q: no known crawler or operator has this name", d.For))
		}
	}
	if _, err := serverAddress(c.DNSServer); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (l *List) validate() error {
	if (l.File == "") == (l.URL == "") {
		return fmt.Errorf("list of addresses for %s: give either a file or a URL", l.For)
	}
	if l.URL == "" {
		return nil
	}
	u, err := url.Parse(l.URL)
	if err != nil {
		return fmt.Errorf("list of addresses for %s: %w", l.For, err)
	}
	if u.Scheme != "https" || u.Host == "" || u.User != nil {
		return fmt.Errorf("list of addresses for %s: %q is no https URL without a user name; whoever can change the list can pass as the crawler", l.For, l.URL)
	}
	return nil
}

// names reports whether a crawler or an operator has the name.
func (c *Config) names(name string) bool {
	for i := range c.Crawlers {
		if isFor(name, &c.Crawlers[i]) {
			return true
		}
	}
	return false
}

// isFor reports whether what is configured for name is meant for the crawler.
func isFor(name string, c *uaident.Crawler) bool {
	return name != "" && (strings.EqualFold(name, c.Token) || strings.EqualFold(name, c.Operator) || spelling.Among(c.Aliases, name))
}

// cleanSuffix returns a domain in lower case with a leading and no trailing dot.
func cleanSuffix(s string) (string, error) {
	clean := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(s, "."), "."))
	labels := strings.Split(clean, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", fmt.Errorf("%q is no domain", s)
		}
	}
	if len(labels) < 2 || len(clean) > 253 {
		return "", fmt.Errorf("%q is no domain of one operator: it needs at least two labels, such as example.com", s)
	}
	return "." + clean, nil
}

// serverAddress returns the address and port of a DNS server, "" for "".
func serverAddress(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	if addr, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return net.JoinHostPort(addr.String(), "53"), nil
	}
	addr, err := netip.ParseAddrPort(s)
	if err != nil || addr.Port() == 0 {
		return "", fmt.Errorf("DNS server %q: give an IP address with or without a port, such as 192.0.2.53 or [2001:db8::53]:53", s)
	}
	return addr.String(), nil
}
