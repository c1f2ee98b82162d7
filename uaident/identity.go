package uaident

import "strings"

// Identity is the result of identifying a User-Agent. Any client can send any User-Agent, so
// an Identity proves nothing.
type Identity struct {
	// Token is the product token as the client sent it, a substring of the User-Agent. Token is ""
	// for a browser.
	Token string
	// Crawler is the registry entry, or nil if no entry matches. Callers must not modify the entry.
	Crawler *Crawler
	// Class is the kind of client.
	Class Class
	// Evidence is the reason for the result.
	Evidence Evidence

	groupName string // groupName is the group name as spelled in the robots.txt, or "".
}

// Evidence is the reason for an identity. Apps and services send weak evidence too, so a client
// with only weak evidence has class [Other].
type Evidence uint8

const (
	NoEvidence       Evidence = iota // The client is a browser, or the User-Agent is empty.
	FromRegistry                     // A name is in the registry.
	FromFamily                       // A name extends the token of a registry entry with [Crawler.Family].
	FromGroupName                    // The robots.txt has a group for a product.
	FromSuffix                       // A word ends like a robot's name, or is a word for a robot.
	FromConvention                   // The form "(compatible; FooBar/1.0; +http..." is the convention of crawlers.
	FromRobotContact                 // The User-Agent contains a robot's URL or mail address.
	FromCompatible                   // This evidence is weak: a name stands after "compatible;".
	// This evidence is weak: any other URL or mail address, or a domain name as the first product.
	FromContact
	FromTool         // This evidence is weak: a word such as webhook or checker.
	FromStructure    // This evidence is weak: an unknown product after "Mozilla/5.0".
	FromLibrary      // A name is that of an HTTP library.
	FromHeadless     // A name is that of a headless browser.
	FromFirstProduct // No other evidence exists: the first product is not a word of browsers.
	numEvidenceKinds
)

var evidenceNames = [numEvidenceKinds]string{
	"none", "registry", "family", "policy name", "suffix", "convention", "robot's contact", "compatible", "contact", "tool",
	"structure", "library", "headless", "first product",
}

// String returns a short name for e, such as "registry".
func (e Evidence) String() string {
	if e < numEvidenceKinds {
		return evidenceNames[e]
	}
	return "invalid"
}

// Name returns the display name: the registry's spelling, else the spelling in the robots.txt,
// else the token. Name returns "" for a browser. Clients can invent any number of tokens, so use
// Name as a key only if [Identity.HasKnownName] is true.
func (id Identity) Name() string {
	switch {
	case id.Crawler != nil:
		return id.Crawler.Token
	case id.groupName != "":
		return id.groupName
	}
	return id.Token
}

// HasKnownName reports whether [Identity.Name] comes from a registry or from an overlay.
func (id Identity) HasKnownName() bool { return id.Crawler != nil || id.groupName != "" }

// AppendNames appends to dst the names with which a robots.txt can address the client, in order of
// precedence. These are the token as sent, the registry token, its aliases and its documented
// fallbacks. AppendNames skips duplicates, ignoring case, and allocates only if dst has no room.
//
// AppendNames appends nothing for a browser or for a token with [Crawler.RobotsOnly].
func (id Identity) AppendNames(dst []string) []string {
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

// WildcardApplies reports whether the `*` group applies to the client by default. See
// [Crawler.WildcardApplies] and [Class.WildcardApplies].
func (id Identity) WildcardApplies() bool {
	if id.Crawler != nil {
		return id.Crawler.WildcardApplies()
	}
	return id.Class.WildcardApplies()
}
