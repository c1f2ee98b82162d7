package shadow

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Trial has the results of one site.
type Trial struct {
	Site   policy.Key // without a host if the site has several
	Label  string
	Source string
	Since  time.Time
	// InForce and Tried are the SHA-256 of the files. InForce is zero if each host of the site has
	// its own file.
	InForce, Tried [sha256.Size]byte
	Rows           []Row // in no particular order
}

// Row has the results of one crawler.
type Row struct {
	Token    string
	Class    uaident.Class
	Identity verify.State
	Judged   [NumDifferences]uint64 // requests by difference
	// Pages are the pages for which the files differ, by difference except [Same].
	Pages [NumDifferences - 1][]spacesaving.Item[Page]
}

// Snapshot returns the results by site.
func (t *Trials) Snapshot() []Trial {
	var all []Trial
	for key, known := range t.all.All() {
		one := Trial{
			Site: key.site, Label: known.label, Source: key.source, Since: known.since,
			InForce: known.inForce.hash, Tried: known.tried.hash,
		}
		for key, row := range known.rows.All() {
			one.Rows = append(one.Rows, row.snapshot(key))
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Trial) int {
		return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.Site.UniqueString(), b.Site.UniqueString()), cmp.Compare(a.Source, b.Source))
	})
	return all
}

func (w *row) snapshot(key rowKey) Row {
	one := Row{Token: key.token, Class: key.class, Identity: key.identity}
	for d := range w.judged {
		one.Judged[d] = w.judged[d].Load()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for d := range w.pages {
		one.Pages[d] = slices.Clone(w.pages[d].Items)
	}
	return one
}
