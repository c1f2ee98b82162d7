package verify

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/spelling"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// setup is a configuration in use. It is immutable; the lists in it are not, and
// outlive it.
type setup struct {
	plans     map[string]*plan    // by token
	operators map[string]*methods // by operator in lower case
	lists     map[listKey]*list
	users     map[*list][]string // tokens
}

type listKey struct {
	source string
	isFile bool
}

// plan is how claims to be one crawler are verified. At least one method is on.
type plan struct {
	*methods
	// denies says that a client is spoofed if all methods fail; if not, excuse says why.
	denies bool
	excuse string
}

// methods tell whether an address belongs to an operator: the lists and domains of all its
// crawlers, since an operator moves crawlers between its hosts.
type methods struct {
	lists    []*list
	suffixes []string // for reverse DNS; empty if that is off
	scope    uint64
	resolver Resolver
}

// newSetup makes a setup. It takes over the lists of old that are still in use,
// and reads those of files. It changes no list; files returns what was read.
func (v *Verifier) newSetup(c *Config, old *setup) (s *setup, files map[*list]fileContent, err error) {
	s = &setup{plans: map[string]*plan{}, operators: map[string]*methods{}, lists: map[listKey]*list{}, users: map[*list][]string{}}
	server, err := serverAddress(c.DNSServer)
	if err != nil {
		return nil, nil, err
	}
	resolver := v.options.Resolver
	if resolver == nil {
		resolver = newResolver(server)
	}
	operators := map[string]string{} // by token in lower case
	for i := range c.Crawlers {
		operators[strings.ToLower(c.Crawlers[i].Token)] = c.Crawlers[i].Operator
	}
	var errs []error
	for i := range c.Crawlers {
		crawler := &c.Crawlers[i]
		own, wrong := c.factsOf(crawler, operators)
		errs = append(errs, wrong...)
		m := new(methods)
		if runByOperator(crawler) {
			name := strings.ToLower(crawler.Operator)
			if s.operators[name] == nil {
				s.operators[name] = m
			}
			m = s.operators[name]
		}
		for _, key := range own.lists {
			s.add(m, key, crawler.Token, old)
		}
		m.suffixes = append(m.suffixes, own.suffixes...)
		p := &plan{methods: m}
		p.denies, p.excuse = denies(crawler, own)
		s.plans[crawler.Token] = p
	}
	for token, p := range s.plans {
		if len(p.lists) == 0 && len(p.suffixes) == 0 {
			delete(s.plans, token)
			continue
		}
		slices.Sort(p.suffixes)
		p.suffixes = slices.Compact(p.suffixes)
		p.resolver, p.scope = resolver, scopeOf(server, p.suffixes)
	}
	files = map[*list]fileContent{}
	for _, l := range s.lists {
		if l.isFile {
			content, err := readFile(l.source)
			errs = append(errs, err)
			files[l] = content
		}
	}
	return s, files, errors.Join(errs...)
}

// runByOperator reports whether the addresses of other crawlers of the operator are also
// addresses of the crawler. A library is run by its users.
func runByOperator(c *uaident.Crawler) bool {
	return c.Operator != "" && c.Class != uaident.Library && c.Class != uaident.Headless
}

// facts are the lists and domains of one crawler. They are sure if the operator or the
// owner of the site says so.
type facts struct {
	lists               []listKey
	suffixes            []string
	sureRanges, sureDNS bool
}

// factsOf returns the facts of a crawler that are switched on. What is configured for a
// crawler also counts for those of the same operator that have it as a fallback; operators
// are by token in lower case.
func (c *Config) factsOf(crawler *uaident.Crawler, operators map[string]string) (own facts, errs []error) {
	isMeant := func(name string) bool {
		return isFor(name, crawler) || crawler.Operator != "" && spelling.Among(crawler.Fallback, name) &&
			operators[strings.ToLower(name)] == crawler.Operator
	}
	published := &crawler.Verification
	if c.Ranges {
		for _, u := range slices.Concat(published.Ranges, published.ConfirmingRanges) {
			l := List{For: crawler.Token, URL: u}
			if err := l.validate(); err != nil {
				errs = append(errs, err)
				continue
			}
			own.lists = append(own.lists, listKey{source: u})
			own.sureRanges = !published.Unsure && len(published.Ranges) > 0 // a list that only confirms denies nothing
		}
	}
	for _, l := range c.Lists {
		if isMeant(l.For) {
			own.lists = append(own.lists, listKey{l.File + l.URL, l.File != ""})
			own.sureRanges = true
		}
	}
	if c.ReverseDNS {
		for _, suffix := range published.RDNS {
			clean, err := cleanSuffix(suffix)
			if err != nil {
				errs = append(errs, fmt.Errorf("crawler %s: %w", crawler.Token, err))
				continue
			}
			own.suffixes = append(own.suffixes, clean)
			own.sureDNS = !published.Unsure
		}
	}
	for _, d := range c.Domains {
		if isMeant(d.For) {
			clean, _ := cleanSuffix(d.Suffix) // was validated
			own.suffixes = append(own.suffixes, clean)
			own.sureDNS = true
		}
	}
	return own, errs
}

// add adds a list of a crawler, by its token, to the methods of its operator: the list of
// old if that has it.
func (s *setup) add(to *methods, key listKey, token string, old *setup) {
	l := s.lists[key]
	if l == nil {
		if l = old.lists[key]; l == nil {
			l = &list{source: key.source, isFile: key.isFile}
		}
		s.lists[key] = l
	}
	if !slices.Contains(to.lists, l) {
		to.lists = append(to.lists, l)
	}
	if !slices.Contains(s.users[l], token) {
		s.users[l] = append(s.users[l], token)
	}
}

// denies reports whether a client is spoofed if all methods fail, or why not.
func denies(c *uaident.Crawler, own facts) (bool, string) {
	switch {
	case c.Class == uaident.Preview:
		return false, "link previews are also fetched from the devices of readers, so no client is called spoofed for that"
	case len(own.lists) == 0 && len(own.suffixes) == 0:
		return false, "its operator publishes addresses or domains of other crawlers only, so that proves nothing"
	case !own.sureRanges && !own.sureDNS && len(c.Verification.ConfirmingRanges) > 0:
		return false, "the lists of its operator may lack some of its addresses, so it proves nothing that they lack this one"
	case !own.sureRanges && !own.sureDNS:
		return false, "what is known about its addresses is not from its operator, so it proves nothing that they do not fit"
	case c.UserTriggered && !own.sureRanges:
		return false, "it fetches because a person asks it to, and no list of its addresses is in use, so it proves nothing that its name does not fit"
	}
	return true, ""
}

// scopeOf returns a number for a server and its answers about some domains:
// crawlers of an operator that have the same domains share look-ups.
func scopeOf(server string, suffixes []string) uint64 {
	sum := sha256.Sum256([]byte(server + "\n" + strings.Join(suffixes, "\n")))
	return binary.BigEndian.Uint64(sum[:])
}
