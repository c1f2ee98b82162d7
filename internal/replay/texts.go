package replay

import (
	"math"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Texts are versions of the robots.txt of one host or of several, to judge
// single requests by as an audit does. They do not change.
type Texts struct {
	versions []version
	byHost   map[string]span // nil if they are of all hosts
}

// NewTexts parses versions, as [ReadVersions] reads them. It fails if there are
// none.
func NewTexts(all []Version, registry *uaident.Registry) (*Texts, error) {
	versions, err := prepare(&Options{Versions: all}, registry)
	return &Texts{versions, hostSpans(versions)}, err
}

// At returns the text that a host served at a time, and the names in it that the
// registry does not know. The first version holds before its time, too; the zero
// time is that of the last. It returns nil for a host of which nothing is known.
// A port and capitals in the host make no difference.
func (t *Texts) At(host string, when time.Time) (*policy.Robots, *uaident.Overlay) {
	of := span{0, len(t.versions)}
	if t.byHost != nil {
		host, _ = addr.CutPort(host)
		var known bool
		if of, known = t.byHost[strings.ToLower(addr.Unbracket(strings.TrimSuffix(host, ".")))]; !known {
			return nil, nil
		}
	}
	nanos := int64(math.MaxInt64)
	if !when.IsZero() {
		nanos = when.UnixNano()
	}
	v := &t.versions[of.from+at(t.versions[of.from:of.to], nanos)]
	return v.robots, v.overlay
}
