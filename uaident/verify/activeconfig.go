package verify

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// activeConfig is a configuration that the Verifier uses. An activeConfig is immutable, except for
// the content of its lists.
type activeConfig struct {
	plans     map[string]*crawlerPlan     // The key is the token.
	operators map[string]*operatorMethods // The key is the operator in lower case.
	lists     map[listKey]*addressList
	// The value has the tokens of the crawlers whose entry or configuration names the list.
	crawlersByList map[*addressList][]string
}

type listKey struct {
	source string
	isFile bool
}

// crawlerPlan says how clients with the name of one crawler are verified. A plan has at least one
// list or domain.
type crawlerPlan struct {
	*operatorMethods
	// deniesUnverified reports whether a client that no method verifies is spoofed. If not,
	// noDenialReason says why.
	deniesUnverified bool
	noDenialReason   string
}

// operatorMethods are the address lists and domains of all crawlers of an operator. Operators move
// crawlers between hosts, so their crawlers share these methods.
type operatorMethods struct {
	lists    []*addressList
	suffixes []string // suffixes are for reverse DNS. They are empty if this is disabled.
	scope    uint64
	resolver Resolver
}

// newActiveConfig returns an activeConfig for c, and the content of its list files. newActiveConfig
// reuses the lists of old without changing them.
func (v *Verifier) newActiveConfig(c *Config, old *activeConfig) (s *activeConfig, files map[*addressList]fileContent, err error) {
	s = &activeConfig{plans: map[string]*crawlerPlan{}, operators: map[string]*operatorMethods{}, lists: map[listKey]*addressList{}, crawlersByList: map[*addressList][]string{}}
	server, err := serverAddress(c.DNSServer)
	if err != nil {
		return nil, nil, err
	}
	resolver := v.options.Resolver
	if resolver == nil {
		resolver = newResolver(server)
	}
	operators := map[string]string{} // The key is the token in lower case.
	for i := range c.Crawlers {
		operators[strings.ToLower(c.Crawlers[i].Token)] = c.Crawlers[i].Operator
	}
	var errs []error
	for i := range c.Crawlers {
		crawler := &c.Crawlers[i]
		own, wrong := c.enabledMethods(crawler, operators)
		errs = append(errs, wrong...)
		m := new(operatorMethods)
		if sharesOperatorAddresses(crawler) {
			name := strings.ToLower(crawler.Operator)
			if s.operators[name] == nil {
				s.operators[name] = m
			}
			m = s.operators[name]
		}
		for _, key := range own.lists {
			s.addList(m, key, crawler.Token, old)
		}
		m.suffixes = append(m.suffixes, own.suffixes...)
		p := &crawlerPlan{operatorMethods: m}
		p.deniesUnverified, p.noDenialReason = canDenyClients(crawler, own)
		s.plans[crawler.Token] = p
	}
	for token, p := range s.plans {
		if len(p.lists) == 0 && len(p.suffixes) == 0 {
			delete(s.plans, token)
			continue
		}
		slices.Sort(p.suffixes)
		p.suffixes = slices.Compact(p.suffixes)
		p.resolver, p.scope = resolver, hashDomains(server, p.suffixes)
	}
	files = map[*addressList]fileContent{}
	for _, l := range s.lists {
		if l.isFile {
			content, err := readListFile(l.source)
			errs = append(errs, err)
			files[l] = content
		}
	}
	return s, files, errors.Join(errs...)
}

// sharesOperatorAddresses reports whether a crawler shares the addresses of its operator's other
// crawlers. Libraries and headless browsers run at their users' addresses.
func sharesOperatorAddresses(c *uaident.Crawler) bool {
	return c.Operator != "" && c.Class != uaident.Library && c.Class != uaident.Headless
}

// crawlerMethods are the address lists and domains of one crawler. rangesComplete and dnsComplete
// report whether the operator or the site's owner states that these are complete. Only complete
// lists or domains can deny a client.
type crawlerMethods struct {
	lists                       []listKey
	suffixes                    []string
	rangesComplete, dnsComplete bool
}

// enabledMethods returns the address lists and domains that c enables for a crawler. A list or
// domain that the site's owner configured for a crawler also applies to crawlers of the same
// operator with that crawler as a fallback. operators maps a token in lower case to its operator.
func (c *Config) enabledMethods(crawler *uaident.Crawler, operators map[string]string) (own crawlerMethods, errs []error) {
	applies := func(name string) bool {
		return matchesCrawler(name, crawler) || crawler.Operator != "" && text.ContainsFold(crawler.Fallback, name) &&
			operators[strings.ToLower(name)] == crawler.Operator
	}
	published := &crawler.Verification
	if c.Ranges {
		for _, u := range slices.Concat(published.Ranges, published.PartialRanges) {
			l := List{CrawlerOrOperator: crawler.Token, URL: u}
			if err := l.validateSource(); err != nil {
				errs = append(errs, err)
				continue
			}
			own.lists = append(own.lists, listKey{source: u})
			// A list that only confirms cannot deny.
			own.rangesComplete = !published.IsThirdParty && len(published.Ranges) > 0
		}
	}
	for _, l := range c.Lists {
		if applies(l.CrawlerOrOperator) {
			own.lists = append(own.lists, listKey{l.File + l.URL, l.File != ""})
			own.rangesComplete = true
		}
	}
	if c.ReverseDNS {
		for _, suffix := range published.RDNS {
			clean, err := normalizeSuffix(suffix)
			if err != nil {
				errs = append(errs, fmt.Errorf("crawler %s: %w", crawler.Token, err))
				continue
			}
			own.suffixes = append(own.suffixes, clean)
			own.dnsComplete = !published.IsThirdParty
		}
	}
	for _, d := range c.Domains {
		if applies(d.CrawlerOrOperator) {
			clean, _ := normalizeSuffix(d.Suffix) // Validate has checked this already.
			own.suffixes = append(own.suffixes, clean)
			own.dnsComplete = true
		}
	}
	return own, errs
}

// addList adds an address list to the methods of an operator. If old has the same list, addList
// adds that list with its content.
func (s *activeConfig) addList(to *operatorMethods, key listKey, token string, old *activeConfig) {
	l := s.lists[key]
	if l == nil {
		if l = old.lists[key]; l == nil {
			l = &addressList{source: key.source, isFile: key.isFile}
		}
		s.lists[key] = l
	}
	if !slices.Contains(to.lists, l) {
		to.lists = append(to.lists, l)
	}
	if !slices.Contains(s.crawlersByList[l], token) {
		s.crawlersByList[l] = append(s.crawlersByList[l], token)
	}
}

// canDenyClients reports whether a client that no method verifies is spoofed, or returns the reason
// why such a client can be the crawler.
func canDenyClients(c *uaident.Crawler, own crawlerMethods) (bool, string) {
	switch {
	case c.Class == uaident.Preview:
		return false, "readers' devices also fetch link previews, so the address proves nothing"
	case len(own.lists) == 0 && len(own.suffixes) == 0:
		return false, "its operator publishes addresses or domains of other crawlers only"
	case !own.rangesComplete && !own.dnsComplete && len(c.Verification.PartialRanges) > 0:
		return false, "the operator's lists may be incomplete"
	case !own.rangesComplete && !own.dnsComplete:
		return false, "the data about its addresses is not from its operator"
	case c.UserTriggered && !own.rangesComplete:
		return false, "it fetches for a person, possibly from that person's network, and no list of its addresses is in use"
	}
	return true, ""
}

// hashDomains returns a hash of a DNS server and a set of domains. Crawlers with the same hash share
// their lookups.
func hashDomains(server string, suffixes []string) uint64 {
	sum := sha256.Sum256([]byte(server + "\n" + strings.Join(suffixes, "\n")))
	return binary.BigEndian.Uint64(sum[:])
}
