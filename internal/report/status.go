package report

import (
	"maps"
	"slices"
)

// SiteStatus is a site with its mode and the state of its robots.txt.
type SiteStatus struct {
	Site   string `json:"site"`
	Mode   string `json:"mode,omitempty"` // see Site.Mode
	Robots Health `json:"robots"`
}

// Status returns the state of sites, sorted by name. The result is never nil.
func (s *Source) Status(sites map[string]SiteState) []SiteStatus {
	all := []SiteStatus{}
	for _, name := range slices.Sorted(maps.Keys(sites)) {
		all = append(all, SiteStatus{Site: name, Mode: sites[name].Mode, Robots: s.health(sites[name])})
	}
	return all
}
