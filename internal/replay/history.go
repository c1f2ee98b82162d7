package replay

import (
	"math"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// RobotsHistory has the versions of the robots.txt of one or more hosts, for judging single
// requests. It is immutable and safe for concurrent use.
type RobotsHistory struct {
	versions []datedVersion
	byHost   map[string]versionRange // byHost is nil if all hosts share the versions.
}

// NewRobotsHistory parses the versions, for example those of [ReadVersions]. NewRobotsHistory
// returns an error for an empty list.
func NewRobotsHistory(all []Version, registry *uaident.Registry) (*RobotsHistory, error) {
	versions, err := parseVersions(&Options{Versions: all}, registry)
	return &RobotsHistory{versions, groupVersionsByHost(versions)}, err
}

// RobotsAt returns the robots.txt that a host served at a time, and its overlay: the crawler names
// that only the file defines. The first version also applies before its time. The zero time selects
// the last version. RobotsAt returns nil for an unknown host. RobotsAt ignores the port and the
// letter case of host.
func (t *RobotsHistory) RobotsAt(host string, when time.Time) (*policy.Robots, *uaident.Overlay) {
	of := versionRange{0, len(t.versions)}
	if t.byHost != nil {
		var known bool
		if of, known = t.byHost[string(appendHost(nil, []byte(host)))]; !known {
			return nil, nil
		}
	}
	nanos := int64(math.MaxInt64)
	if !when.IsZero() {
		nanos = when.UnixNano()
	}
	v := &t.versions[of.from+findVersion(t.versions[of.from:of.to], nanos)]
	return v.robots, v.overlay
}
