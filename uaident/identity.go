package uaident

import "strings"

// Identity is who a User-Agent claims to be. It is a claim: anybody can send
// any User-Agent.
type Identity struct {
	// Token is the product token as it was sent, a substring of the User-Agent;
	// "" for a browser.
	Token string
	// Crawler is the registry's entry, nil if only the structure of the
	// User-Agent or a name in a policy told what it is. It must not be modified.
	Crawler *Crawler
	// Class is the kind of client.
	Class Class
	// Evidence is what decided.
	Evidence Evidence

	policyName string // as the policy spells it
}

// Evidence is what made a User-Agent somebody's. What is called weak below is
// found with robots and with many programs that are none: a client that only
// such evidence tells of is called by its name and is of class [Other].
type Evidence uint8

const (
	NoEvidence       Evidence = iota // a browser, or nothing at all
	FromRegistry                     // a name in the registry
	FromFamily                       // begins with the name of a family in the registry
	FromPolicyName                   // a name that a policy has, standing as a product
	FromSuffix                       // a word that ends like a robot's name, or says that it is one
	FromConvention                   // "(compatible; FooBar/1.0; +http...", as crawlers write it
	FromRobotContact                 // a product with a URL or mail address that says it is a robot's
	FromCompatible                   // the name after "compatible;": weak
	FromContact                      // a product with a URL or mail address next to it: weak
	FromTool                         // a word such as webhook or checker: weak
	FromStructure                    // nothing that a browser would say beside a product: weak
	FromLibrary                      // the name of an HTTP library
	FromHeadless                     // the name of a headless browser
	FromFirstProduct                 // a first product that is not Mozilla
	numEvidence
)

var evidenceNames = [numEvidence]string{
	"none", "registry", "family", "policy name", "suffix", "convention", "robot's contact", "compatible", "contact", "tool",
	"structure", "library", "headless", "first product",
}

// String returns a word or two for e, such as "registry".
func (e Evidence) String() string {
	if e < numEvidence {
		return evidenceNames[e]
	}
	return "invalid"
}

// Name returns the name to show: the registry's spelling, else the policy's,
// else the token; "" for a browser. Only what a registry or a policy spells is
// fit to be the key of a count, for clients can invent tokens at will: see
// [Identity.Known].
func (id Identity) Name() string {
	switch {
	case id.Crawler != nil:
		return id.Crawler.Token
	case id.policyName != "":
		return id.policyName
	}
	return id.Token
}

// Known reports whether [Identity.Name] is a name of the registry or of a
// policy rather than what a client invented.
func (id Identity) Known() bool { return id.Crawler != nil || id.policyName != "" }

// AppendChain appends to dst the names under which a robots.txt may address the
// client, in the order in which to try them: the token as sent, the registry's
// token, its aliases, and the documented fallbacks. No name occurs twice in what
// is appended, without regard to case. It allocates only if dst has no room.
//
// A browser has no names, nor has a token that no client sends by its operator's
// word (Google-Extended): no group addresses such a request.
func (id Identity) AppendChain(dst []string) []string {
	if id.Token == "" || id.Crawler != nil && id.Crawler.RobotsOnly {
		return dst
	}
	from := len(dst)
	add := func(name string) {
		for _, have := range dst[from:] {
			if strings.EqualFold(have, name) {
				return
			}
		}
		dst = append(dst, name)
	}
	add(id.Token)
	if c := id.Crawler; c != nil {
		add(c.Token)
		for _, name := range c.Aliases {
			add(name)
		}
		for _, name := range c.Fallback {
			add(name)
		}
	}
	return dst
}

// Wildcard reports whether the `*` group is meant for the client by default:
// see [Crawler.JudgedByWildcard] and [Class.JudgedByWildcard].
func (id Identity) Wildcard() bool {
	if id.Crawler != nil {
		return id.Crawler.JudgedByWildcard()
	}
	return id.Class.JudgedByWildcard()
}
