package report

import (
	"fmt"
	"time"
)

// Proposal is a name that clients often call themselves by and that no registry knows,
// with what an entry for it can be decided by. All counts are since the server was
// started.
type Proposal struct {
	// Name has nothing that a Caddyfile or a terminal would take for something else.
	Name string `json:"name"`
	// Class is what the structure of the User-Agent says: crawler for what is evidently a
	// robot, else other.
	Class string `json:"class"`
	// Requests may be too high by Error: where many names come, not all can be counted.
	Requests uint64 `json:"requests"`
	Error    uint64 `json:"error,omitempty"`
	// RobotsReads is how many of them were for a robots.txt, and LastRead when the last of
	// these was.
	RobotsReads uint64    `json:"robots_reads"`
	LastRead    time.Time `json:"last_read,omitzero"`
	// Networks is from how many it came, an estimate.
	Networks  int       `json:"networks"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	UserAgent string    `json:"user_agent"` // the first of them
	// WaveAt is when a robot came last from far more networks at once than before, and
	// WaveNetworks from how many within ten minutes; both are absent if it never did.
	WaveAt       time.Time `json:"wave_at,omitzero"`
	WaveNetworks int       `json:"wave_networks,omitempty"`
	// Option is the option for the Caddyfile, to be completed with what it is for.
	Option string `json:"option"`
}

// Seen tells in words how often it has read a robots.txt, and from how many networks it
// came.
func (p *Proposal) Seen() string {
	reads := "never read robots.txt"
	switch {
	case p.RobotsReads == 1:
		reads = "read robots.txt once"
	case p.RobotsReads > 1:
		reads = fmt.Sprintf("read robots.txt %d times", p.RobotsReads)
	}
	networks := fmt.Sprintf("%d networks", p.Networks)
	if p.Networks == 1 {
		networks = "1 network"
	}
	return reads + ", from " + networks
}
