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
	plans map[string]*plan // by token
	lists map[listKey]*list
	users map[*list][]string // tokens
}

type listKey struct {
	source string
	isFile bool
}

// plan is how claims to be one crawler are verified. At least one method is on.
type plan struct {
	lists    []*list
	suffixes []string // for reverse DNS; empty if that is off
	scope    uint64
	resolver Resolver
	// denies says that a failure of all methods makes the client a liar; if it
	// does not, excuse says why.
	denies bool
	excuse string
}

// newSetup makes a setup. It takes over the lists of old that are still in use,
// and reads those of files. It changes no list; files returns what was read.
func (v *Verifier) newSetup(c *Config, old *setup) (s *setup, files map[*list]fileContent, err error) {
	s = &setup{plans: map[string]*plan{}, lists: map[listKey]*list{}, users: map[*list][]string{}}
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
		p, lists, wrong := c.planOf(crawler, operators)
		errs = append(errs, wrong...)
		for _, key := range lists {
			s.add(p, key, crawler.Token, old)
		}
		p.resolver, p.scope = resolver, scopeOf(server, p.suffixes)
		if len(p.lists) > 0 || len(p.suffixes) > 0 {
			s.plans[crawler.Token] = p
		}
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

// planOf returns how claims to be a crawler are verified, and by which lists. Its facts
// also count for those of the same operator that have it as a fallback; operators are by
// token in lower case.
func (c *Config) planOf(crawler *uaident.Crawler, operators map[string]string) (p *plan, lists []listKey, errs []error) {
	meant := func(name string) bool {
		return isFor(name, crawler) || crawler.Operator != "" && spelling.Among(crawler.Fallback, name) &&
			operators[strings.ToLower(name)] == crawler.Operator
	}
	p = new(plan)
	sureRanges, sureDNS := false, false
	facts := &crawler.Verification
	if c.Ranges {
		for _, u := range facts.Ranges {
			own := List{For: crawler.Token, URL: u}
			if err := own.validate(); err != nil {
				errs = append(errs, err)
				continue
			}
			lists = append(lists, listKey{source: u})
			sureRanges = !facts.Unsure
		}
	}
	for _, l := range c.Lists {
		if meant(l.For) {
			lists = append(lists, listKey{l.File + l.URL, l.File != ""})
			sureRanges = true
		}
	}
	if c.ReverseDNS {
		for _, suffix := range facts.RDNS {
			clean, err := cleanSuffix(suffix)
			if err != nil {
				errs = append(errs, fmt.Errorf("crawler %s: %w", crawler.Token, err))
				continue
			}
			p.suffixes = append(p.suffixes, clean)
			sureDNS = !facts.Unsure
		}
	}
	for _, d := range c.Domains {
		if meant(d.For) {
			clean, _ := cleanSuffix(d.Suffix) // was validated
			p.suffixes = append(p.suffixes, clean)
			sureDNS = true
		}
	}
	slices.Sort(p.suffixes)
	p.suffixes = slices.Compact(p.suffixes)
	p.denies, p.excuse = denies(crawler, sureRanges, sureDNS)
	return p, lists, errs
}

// add has a list verify claims to be a crawler, by its token: the list of old, where that
// has it.
func (s *setup) add(to *plan, key listKey, token string, old *setup) {
	l := s.lists[key]
	if l == nil {
		if l = old.lists[key]; l == nil {
			l = &list{source: key.source, isFile: key.isFile}
		}
		s.lists[key] = l
	}
	if !slices.Contains(to.lists, l) {
		to.lists = append(to.lists, l)
		s.users[l] = append(s.users[l], token)
	}
}

// denies reports whether a client that all methods denied is a liar, or why not.
func denies(c *uaident.Crawler, sureRanges, sureDNS bool) (bool, string) {
	switch {
	case c.Class == uaident.Preview:
		return false, "link previews are also fetched from the devices of readers, so nobody is called a liar for that"
	case !sureRanges && !sureDNS:
		return false, "what is known about its addresses is not from its operator, so it proves nothing that they do not fit"
	case c.UserTriggered && !sureRanges:
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
