package report

import (
	"fmt"
	"time"
)

// RegistryProposal is a frequent name of clients that are not in the registry, with data that help
// to decide about an entry. All numbers are since the start of the server.
type RegistryProposal struct {
	// Name contains no characters that have a meaning in a Caddyfile or a terminal.
	Name string `json:"name"`
	// Class is crawler if the User-Agent is built like that of a robot, else other.
	Class string `json:"class"`
	// Requests is the maximum number of requests, and Requests - Error the minimum.
	Requests uint64 `json:"requests"`
	Error    uint64 `json:"error,omitempty"`
	// RobotsFetches is the number of requests for robots.txt, and LastRobotsFetch the time of the
	// last.
	RobotsFetches   uint64    `json:"robots_reads"`
	LastRobotsFetch time.Time `json:"last_read,omitzero"`
	// Networks is the estimated number of networks from which the requests came.
	Networks  int       `json:"networks"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	UserAgent string    `json:"user_agent"` // UserAgent is the first User-Agent with the name.
	// LastWave is the last time at which the robot came from many more networks than before.
	// WaveNetworks is the number of networks within ten minutes. Both are absent if this never
	// happened.
	LastWave     time.Time `json:"wave_at,omitzero"`
	WaveNetworks int       `json:"wave_networks,omitempty"`
	// Option is the Caddyfile option that adds the name, with a placeholder for the purpose.
	Option string `json:"option"`
}

// DescribeNetworksAndFetches describes the clients, such as "from 12 networks, fetched robots.txt
// 3 times".
func (p *RegistryProposal) DescribeNetworksAndFetches() string {
	fetches := "never fetched robots.txt"
	switch {
	case p.RobotsFetches == 1:
		fetches = "fetched robots.txt once"
	case p.RobotsFetches > 1:
		fetches = fmt.Sprintf("fetched robots.txt %d times", p.RobotsFetches)
	}
	networks := fmt.Sprintf("%d networks", p.Networks)
	if p.Networks == 1 {
		networks = "1 network"
	}
	return "from " + networks + ", " + fetches
}
