package report

import (
	"maps"
	"slices"
)

// SiteStatus is the mode of a site and the state of its robots.txt.
type SiteStatus struct {
	Site   string       `json:"site"`
	Mode   string       `json:"mode,omitempty"` // Mode is monitor, enforce or mixed.
	Robots RobotsHealth `json:"robots"`
}

// SiteStatuses returns the status of each of the given sites, sorted by name. sites has the states
// by name. The result is never nil.
func (s *Source) SiteStatuses(sites map[string]SiteState) []SiteStatus {
	all := []SiteStatus{}
	for _, name := range slices.Sorted(maps.Keys(sites)) {
		all = append(all, SiteStatus{Site: name, Mode: sites[name].Mode, Robots: s.robotsHealth(sites[name])})
	}
	return all
}
