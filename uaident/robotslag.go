package uaident

import "time"

// MaxRobotsLag is the maximum of [RobotsLag.Max] in a registry.
const MaxRobotsLag = 7 * 24 * time.Hour

// RobotsLag is the time for which a crawler may still use an old robots.txt after a change,
// as its operator documents. RFC 9309 section 2.4 allows 24 hours.
type RobotsLag struct {
	// Max is the longest time after a change of robots.txt for which the crawler uses the old
	// file. 0 means that the operator names no time.
	Max time.Duration
	// Source is the URL of the documentation.
	Source string
}

// RobotsLag returns the RobotsLag of the registry entry, or the zero value for a client without an
// entry.
func (id Identity) RobotsLag() RobotsLag {
	if id.Crawler == nil {
		return RobotsLag{}
	}
	return id.Crawler.RobotsLag
}
