package replay

import (
	"math"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// RobotsHistory has versions of the robots.txt of some hosts, to judge single requests. A
// RobotsHistory is immutable and safe for concurrent use.
type RobotsHistory struct {
	versions []datedVersion
	byHost   map[string]versionRange // nil if all hosts share the versions
}

// NewRobotsHistory parses versions, as [ReadVersions] returns them. An empty list is an error.
func NewRobotsHistory(all []Version, registry *uaident.Registry) (*RobotsHistory, error) {
	versions, err := parseVersions(&Options{Versions: all}, registry)
	return &RobotsHistory{versions, versionsByHost(versions)}, err
}

// RobotsAt returns the robots.txt served by a host at a time, and the file's names missing in the
// registry. The first version also applies before its time. The zero time selects the last version.
// At returns nil for an unknown host. Ports and letter case of host are ignored.
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
	v := &t.versions[of.from+versionAt(t.versions[of.from:of.to], nanos)]
	return v.robots, v.overlay
}
