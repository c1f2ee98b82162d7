package registry

import (
	"fmt"

	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/edition"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// maxWhy bounds what is told of a text.
const maxWhy = 10

// suspicionsOf returns what nobody would expect of a newer edition, none for nothing: it
// has lost many entries, says other things of a search engine's crawlers or of those
// that `*` is not meant for, changes for whom `*` is meant, or takes people or known
// crawlers for somebody else. before is nil if the built-in registry was in use alone.
func suspicionsOf(before, after *edition.Edition) (why []string) {
	old, next := uaident.Default(), uaident.Default()
	if before != nil {
		old, _ = before.Over(old) // which it could be
		if lost := lostOf(before, after); lost > 1 && 4*lost > len(before.Crawlers) {
			why = append(why, fmt.Sprintf("it has lost %d of %d entries", lost, len(before.Crawlers)))
		}
	}
	next, err := after.Over(next)
	if err != nil {
		return append(why, err.Error())
	}
	engines := enginesOf(old)
	crawlers := old.Crawlers()
	for i := range crawlers {
		if said := suspicion(&crawlers[i], next, engines.watches(&crawlers[i])); said != "" {
			why = append(why, said)
		}
	}
	why = append(why, ofSigners(old, next)...)
	for i := range after.Crawlers {
		why = append(why, ofNames(&after.Crawlers[i], old, engines)...)
	}
	for _, userAgent := range browsers {
		if id := next.Identify(userAgent); id.Class != uaident.Browser && old.Identify(userAgent).Class == uaident.Browser {
			why = append(why, fmt.Sprintf("the browser %q is taken for %s", userAgent, id.Name()))
		}
	}
	if len(why) > maxWhy {
		why = append(why[:maxWhy:maxWhy], fmt.Sprintf("and %d more", len(why)-maxWhy))
	}
	return why
}

// Usable tells whether claims can be verified by what a registry says: whether its domains
// are those of one operator, and its signing agents, too.
func Usable(r *uaident.Registry) error {
	if _, err := identity.AgentsOf(r); err != nil {
		return err
	}
	v := verify.New(verify.Options{KeepVerified: 1, KeepOthers: 1})
	defer v.Close()
	return v.Configure(verify.Config{Crawlers: r.Crawlers(), Ranges: true, ReverseDNS: true})
}

// lostOf returns how many entries another edition lacks.
func lostOf(before, after *edition.Edition) (lost int) {
	for _, change := range edition.Diff(before.Crawlers, after.Crawlers) {
		if change.Kind == edition.Removed {
			lost++
		}
	}
	return lost
}
