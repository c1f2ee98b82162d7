package report

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// SiteChange is a change of a site's robots.txt or mode.
type SiteChange struct {
	At   time.Time             `json:"at"`
	Site string                `json:"site"`
	Kind ledger.SiteChangeKind `json:"kind"` // Kind is robots or mode.
	// From and To are the values before and after the change. For a robots.txt they are the SHA-256
	// of versions ("" for an empty or missing file), for a mode monitor, enforce or mixed.
	From string `json:"from"`
	To   string `json:"to"`
}

// emptyFile is the SHA-256 of an empty or missing robots.txt.
var emptyFile = ledger.Version(sha256.Sum256(nil))

// formatVersion returns a version in hexadecimal, or "" for an empty or missing file.
func formatVersion(v ledger.Version) string { return omitEmptyVersion(v.String()) }

func omitEmptyVersion(version string) string {
	if version == emptyFile.String() {
		return ""
	}
	return version
}

// siteChanges returns the changes of the given sites in the window, oldest first.
func (v *filteredSource) siteChanges(sites []string) []SiteChange {
	list := []SiteChange{}
	for _, site := range v.Ledger.Sites {
		if !slices.Contains(sites, site.Name) {
			continue
		}
		for _, m := range site.Changes {
			if at := ledger.FromUnixMilli(m.At); v.contains(at) {
				list = append(list, SiteChange{At: at, Site: site.Name, Kind: m.Kind, From: omitEmptyVersion(m.From), To: omitEmptyVersion(m.To)})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b SiteChange) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Site, b.Site)) })
	return list
}
