// Package edition knows the registry of crawlers as a text: JSON that people write,
// publish and compare. The registry that is built into the package uaident is
// compiled from one, which [Embedded] returns.
//
// docs/registry.schema.json is its form.
package edition

import (
	"fmt"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// What an edition may have at most.
const (
	MaxBytes    = 4 << 20
	MaxCrawlers = 3000
	maxName     = 100 // bytes of a token, an alias or an operator
	maxText     = 500 // bytes of any other string
	maxList     = 64  // strings in a list
	maxMistakes = 50  // that are told
)

// Edition is a registry as a text has it, or a part of one.
type Edition struct {
	// Date is the day of the edition, such as 2026-11-23, "" if it has none.
	Date string
	// Crawlers are the entries, in the order of the text.
	Crawlers []uaident.Crawler
}

// Embedded returns the text of the registry that is built in.
func Embedded() []byte { return uaident.JSON() }

// Over returns base with the entries of e. One with the token of an entry of base takes
// its place as a whole.
func (e *Edition) Over(base *uaident.Registry) (*uaident.Registry, error) {
	registry, err := base.With(e.Crawlers...)
	if err != nil {
		return nil, fmt.Errorf("the registry cannot be laid over the one that is built in: %w", err)
	}
	return registry, nil
}
