package report

import (
	"fmt"
	"time"
)

// Proposal is a frequent name of unregistered clients, with the data to decide about an
// entry. All numbers are since the start of the server.
type Proposal struct {
	// Name contains no characters with a meaning in a Caddyfile or terminal.
	Name string `json:"name"`
	// Class is crawler for a User-Agent with the structure of a robot's, else other.
	Class string `json:"class"`
	// Requests is an upper bound, and Requests - Error a lower bound.
	Requests uint64 `json:"requests"`
	Error    uint64 `json:"error,omitempty"`
	// RobotsFetches is the number of robots fetches, and LastFetched the time of the last fetch.
	RobotsFetches   uint64    `json:"robots_reads"`
	LastRobotsFetch time.Time `json:"last_read,omitzero"`
	// Networks is the estimated number of networks.
	Networks  int       `json:"networks"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	UserAgent string    `json:"user_agent"` // first User-Agent
	// LastWave is the last time at which a robot came from many more networks than before, and
	// WaveNetworks their number within ten minutes. Both are absent without such a wave.
	LastWave     time.Time `json:"wave_at,omitzero"`
	WaveNetworks int       `json:"wave_networks,omitempty"`
	// Option is the Caddyfile option, with a placeholder for the purpose.
	Option string `json:"option"`
}

// DescribeSightings describes the robots fetches and networks.
func (p *Proposal) DescribeSightings() string {
	reads := "never fetched robots.txt"
	switch {
	case p.RobotsFetches == 1:
		reads = "fetched robots.txt once"
	case p.RobotsFetches > 1:
		reads = fmt.Sprintf("fetched robots.txt %d times", p.RobotsFetches)
	}
	networks := fmt.Sprintf("%d networks", p.Networks)
	if p.Networks == 1 {
		networks = "1 network"
	}
	return reads + ", from " + networks
}
