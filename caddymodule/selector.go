package caddymodule

import (
	"fmt"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// classSet is a set of classes.
type classSet uint32

func (s classSet) has(c uaident.Class) bool { return s&(1<<c) != 0 }

// parseClasses reads the words of the wildcard option.
func parseClasses(words []string) (set classSet, err error) {
	for _, word := range words {
		c, ok := uaident.ParseClass(word)
		if !ok || c == uaident.Browser {
			return 0, fmt.Errorf("%q is no class that can be judged; the classes are %s", word, classWords())
		}
		if set.has(c) {
			return 0, fmt.Errorf("%s is named twice", word)
		}
		set |= 1 << c
	}
	return set, nil
}

// classWords lists the classes for an error message.
func classWords() string {
	var words []string
	for _, c := range uaident.Classes() {
		if c != uaident.Browser {
			words = append(words, c.String())
		}
	}
	return strings.Join(words, ", ")
}

// selector picks clients by class, by product token and by identity.
type selector struct {
	classes    classSet
	tokens     map[string]bool // folded
	identities identitySet     // 0 for any
}

// parseSelector reads classes, product tokens that registry may know and, if
// those are allowed, identities.
func parseSelector(registry *uaident.Registry, words []string, identities bool) (selector, error) {
	s := selector{tokens: make(map[string]bool)}
	for _, word := range words {
		if i, ok := parseIdentity(word); ok && identities {
			s.identities |= 1 << i
			continue
		}
		if c, ok := uaident.ParseClass(word); ok {
			if c == uaident.Browser {
				return selector{}, fmt.Errorf("browsers are never judged; remove %q", word)
			}
			s.classes |= 1 << c
			continue
		}
		if strings.TrimSpace(word) == "" || strings.ContainsAny(word, "*/;()") {
			return selector{}, fmt.Errorf("%q is neither a class (%s) nor a product token such as Googlebot", word, classWords())
		}
		if c := registry.Lookup(word); c != nil {
			word = c.Token
		}
		s.tokens[foldName(word)] = true
	}
	return s, nil
}

// any reports whether the selector names neither a class nor a token.
func (s *selector) any() bool { return s.classes == 0 && len(s.tokens) == 0 }

// has reports whether the selector picks a client by class or token.
func (s *selector) has(id uaident.Identity) bool {
	if s.classes.has(id.Class) {
		return true
	}
	return len(s.tokens) > 0 && (s.tokens[foldName(id.Name())] || s.tokens[foldName(id.Token)])
}

// clients are those that an option of a site lists.
type clients struct {
	claimed  selector // by what they say
	verified selector // only where that is verified
}

// parseClients reads both lists of an option.
func parseClients(registry *uaident.Registry, claimed, verified []string) (c clients, err error) {
	if c.claimed, err = parseSelector(registry, claimed, false); err != nil {
		return c, err
	}
	c.verified, err = parseSelector(registry, verified, false)
	return c, err
}

// has reports whether the client of a judgement is listed. One under a false
// name never is.
func (c *clients) has(j *judgement) bool {
	return j.identity != identitySpoofed && c.claimed.has(j.client) ||
		j.identity == identityVerified && c.verified.has(j.client)
}

// foldName makes names comparable that differ in case only.
func foldName(name string) string { return strings.ToLower(name) }
