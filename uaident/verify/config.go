package verify

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Config selects the crawlers to verify and the methods. The zero value disables all methods. Every
// client is then [Claimed].
type Config struct {
	// Crawlers are the registry entries of the crawlers that can be verified, usually
	// [uaident.Registry.Crawlers].
	Crawlers []uaident.Crawler
	// Ranges enables the address lists that the entries name. [Verifier.Run] fetches these lists.
	Ranges bool
	// ReverseDNS enables reverse DNS lookups with the domains that the entries name.
	ReverseDNS bool
	// Lists are additional address lists. They are used even if Ranges is false.
	Lists []List
	// Domains are additional domains for reverse DNS. They are used even if ReverseDNS is
	// false.
	Domains []Domain
	// DNSServer is the IP address of a DNS server, with or without a port. "" selects the
	// servers of the system.
	DNSServer string
}

// HasMethods reports whether at least one method is enabled.
func (c *Config) HasMethods() bool {
	return c.Ranges || c.ReverseDNS || len(c.Lists)+len(c.Domains) > 0
}

// List is an address list that the site's owner configured for a crawler or an operator.
type List struct {
	// CrawlerOrOperator is the token or alias of a crawler, or the name of an operator, ignoring case.
	// The list can confirm clients with the name of any crawler of the same operator, except
	// libraries and headless browsers. The list can deny only clients with the name of a given
	// crawler, or of a crawler of the same operator that has the given token as a fallback: the
	// list of Googlebot can deny Googlebot-Image.
	CrawlerOrOperator string
	// File is the path of the list, and URL is its https URL. Exactly one must be set.
	File, URL string
}

// Domain is a domain for reverse DNS that the site's owner configured for a crawler or an operator.
type Domain struct {
	// CrawlerOrOperator is the token or alias of a crawler, or the name of an operator, as in [List].
	CrawlerOrOperator string
	// Suffix is the domain in which the crawler's host names are, with or without a leading dot.
	Suffix string
}

// Validate returns an error for each invalid part of c. Validate reads no file and makes no
// request.
func (c *Config) Validate() error {
	var errs []error
	for _, l := range c.Lists {
		if err := l.validateSource(); err != nil {
			errs = append(errs, err)
		}
		if !c.hasCrawler(l.CrawlerOrOperator) {
			errs = append(errs, fmt.Errorf("address list for %q: unknown crawler or operator", l.CrawlerOrOperator))
		}
	}
	for _, d := range c.Domains {
		if _, err := normalizeSuffix(d.Suffix); err != nil {
			errs = append(errs, fmt.Errorf("domain for %s: %w", d.CrawlerOrOperator, err))
		}
		if !c.hasCrawler(d.CrawlerOrOperator) {
			errs = append(errs, fmt.Errorf("domain for %q: unknown crawler or operator", d.CrawlerOrOperator))
		}
	}
	if _, err := serverAddress(c.DNSServer); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// validateSource returns an error unless exactly one of File and a valid URL is set.
func (l *List) validateSource() error {
	if (l.File == "") == (l.URL == "") {
		return fmt.Errorf("address list for %s: give either a file or a URL", l.CrawlerOrOperator)
	}
	if l.URL == "" {
		return nil
	}
	u, err := url.Parse(l.URL)
	if err != nil {
		return fmt.Errorf("address list for %s: %w", l.CrawlerOrOperator, err)
	}
	if u.Scheme != "https" || u.Host == "" || u.User != nil {
		return fmt.Errorf("address list for %s: %q is not an https URL without user name; the list decides which clients are verified", l.CrawlerOrOperator, l.URL)
	}
	return nil
}

// hasCrawler reports whether c.Crawlers contains a crawler with the token, alias or operator
// name.
func (c *Config) hasCrawler(name string) bool {
	for i := range c.Crawlers {
		if matchesCrawler(name, &c.Crawlers[i]) {
			return true
		}
	}
	return false
}

// matchesCrawler reports whether name is the token, an alias or the operator of the crawler,
// ignoring case.
func matchesCrawler(name string, c *uaident.Crawler) bool {
	return name != "" && (strings.EqualFold(name, c.Token) || strings.EqualFold(name, c.Operator) || text.ContainsFold(c.Aliases, name))
}

// normalizeSuffix returns a domain in lower case with a leading dot and without a trailing dot.
func normalizeSuffix(s string) (string, error) {
	clean := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(s, "."), "."))
	labels := strings.Split(clean, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", fmt.Errorf("%q is not a domain name", s)
		}
	}
	if len(labels) < 2 || len(clean) > 253 {
		return "", fmt.Errorf("%q needs at least two labels, such as example.com", s)
	}
	return "." + clean, nil
}

// serverAddress parses the address of a DNS server and returns the address with a port. The default
// port is 53. The result for "" is "".
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
