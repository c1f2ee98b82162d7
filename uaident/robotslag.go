package uaident

import "time"

// MaxRobotsLag is the longest that a registry may say of a crawler.
const MaxRobotsLag = 7 * 24 * time.Hour

// RobotsLag is how long after a change of a robots.txt a crawler may still go by what it
// has read before, by its operator's word. RFC 9309 section 2.4 gives all of them 24 hours.
type RobotsLag struct {
	// Most is the longest, 0 if the operator names none.
	Most time.Duration
	// Source is the page that says so.
	Source string
}

// RobotsLag returns what is known of the client. Of one that is in no registry nothing is.
func (id Identity) RobotsLag() RobotsLag {
	if id.Crawler == nil {
		return RobotsLag{}
	}
	return id.Crawler.RobotsLag
}
