package report

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// Mark is a change of a site's robots.txt or mode.
type Mark struct {
	At   time.Time             `json:"at"`
	Site string                `json:"site"`
	Kind ledger.SiteChangeKind `json:"kind"` // robots or mode
	// From and To are the values before and after: versions of the robots.txt ("" for an
	// empty or missing file), or monitor, enforce or mixed.
	From string `json:"from"`
	To   string `json:"to"`
}

// emptyFile is the version of an empty or missing robots.txt.
var emptyFile = ledger.Version(sha256.Sum256(nil))

// versionOf formats a version for views. The result is "" for an empty or missing file.
func versionOf(v ledger.Version) string { return blankEmptyVersion(v.String()) }

func blankEmptyVersion(version string) string {
	if version == emptyFile.String() {
		return ""
	}
	return version
}

// marks returns the marks of the given sites in the window, oldest first.
func (v *view) marks(sites []string) []Mark {
	list := []Mark{}
	for _, site := range v.Ledger.Sites {
		if !slices.Contains(sites, site.Name) {
			continue
		}
		for _, m := range site.Changes {
			if at := ledger.FromUnixMilli(m.At); v.contains(at) {
				list = append(list, Mark{At: at, Site: site.Name, Kind: m.Kind, From: blankEmptyVersion(m.From), To: blankEmptyVersion(m.To)})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Mark) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Site, b.Site)) })
	return list
}
