package registry

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/edition"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// maxWhy bounds what is told of a text.
const maxWhy = 10

// browsers are User-Agents of people. A registry by which one of them is somebody else
// would shut people out.
var browsers = [...]string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15",
	"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 OPR/126.0.0.0",
	"Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0.7444.46 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) GSA/390.0 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
	"Mozilla/5.0 (Linux; Android 15; SM-S931B Build/AP3A.240905.015; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/142.0.7444.48 Mobile Safari/537.36",
	"Mozilla/5.0 (Linux; Android 14; SAMSUNG SM-A546B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36",
	"Mozilla/5.0 (Android 15; Mobile; rv:144.0) Gecko/144.0 Firefox/144.0",
	"Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko",
	"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
	"Mozilla/5.0 (SMART-TV; Linux; Tizen 8.0) AppleWebKit/537.36 (KHTML, like Gecko) Version/7.0 TV Safari/537.36",
	"Opera/9.80 (Windows NT 6.1; WOW64) Presto/2.12.388 Version/12.18",
}

// Suspicions returns what nobody would expect of a newer edition, none for nothing: it
// has lost many entries, says other things of a search engine, or has `*` judge whom it
// was not meant for. before is nil if the built-in registry was in use alone.
func Suspicions(before, after *edition.Edition) (why []string) {
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
	crawlers := old.Crawlers()
	for i := range crawlers {
		if said := suspicion(&crawlers[i], next); said != "" {
			why = append(why, said)
		}
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

// suspicion returns what is odd about what another registry says of a crawler, "" for
// nothing.
func suspicion(c *uaident.Crawler, next *uaident.Registry) string {
	now := next.Lookup(c.Token)
	search := c.Class == uaident.Search && c.JudgedByWildcard()
	switch {
	case now == nil && search:
		return fmt.Sprintf("the search engine %s is gone", c.Token)
	case now == nil:
		return ""
	case now.JudgedByWildcard() && !c.JudgedByWildcard():
		return fmt.Sprintf("%s, of class %s, becomes one that the * group is meant for", c.Token, c.Class)
	case !search:
		return ""
	case now.Token != c.Token:
		return fmt.Sprintf("the search engine %s becomes %s", c.Token, now.Token)
	case now.Class != c.Class || !now.JudgedByWildcard():
		return fmt.Sprintf("the search engine %s becomes one of class %s", c.Token, now.Class)
	case now.RobotsOnly != c.RobotsOnly || now.ExactCase != c.ExactCase || now.App != c.App || !slices.Equal(now.Fallback, c.Fallback):
		return fmt.Sprintf("the search engine %s goes by other groups, or under another spelling", c.Token)
	case !reflect.DeepEqual(now.Verification, c.Verification):
		return fmt.Sprintf("the search engine %s is verified otherwise", c.Token)
	}
	for _, alias := range c.Aliases {
		if other := next.Lookup(alias); other == nil || other.Token != c.Token {
			return fmt.Sprintf("the search engine %s loses its name %s", c.Token, alias)
		}
	}
	return ""
}
