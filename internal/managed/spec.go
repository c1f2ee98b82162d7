package managed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// spec is a schedule as it is stored and compared: all that its owner wants, and
// nothing of where that is written.
type spec struct {
	Rules    []Rule   `json:"rules,omitempty"`
	Sitemaps []string `json:"sitemaps,omitempty"`
	Lines    []string `json:"lines,omitempty"`
	Staging  []string `json:"staging,omitempty"`
}

// anyHost stands for all hosts in the staging of a spec.
const anyHost = "*"

// Spec returns the schedule as JSON, the same for schedules that want the same. It
// is {} for one that wants nothing.
func (s *Schedule) Spec() []byte {
	data, err := json.Marshal(spec{s.rules, s.sitemaps, s.lines, s.staging})
	if err != nil {
		panic(fmt.Sprintf("rules that were checked: %v", err)) // times of the years that RFC 3339 has, and strings
	}
	return data
}

// ParseSpec returns the schedule of a spec. What this version does not know is an
// error: a part of what the owner wants could be something else. But a crawler that the
// registry does not know stands for the one of that name, as with token: another instance
// may know it by its configuration or version.
func ParseSpec(registry *uaident.Registry, data []byte) (*Schedule, error) {
	var stored spec
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&stored); err != nil {
		return nil, fmt.Errorf("stored rules: %w", err)
	}
	names := newNames(registry)
	names.stored = true
	s, err := makeSchedule(names, stored.Rules, stored.Sitemaps, stored.Lines)
	if err == nil && stored.Staging != nil {
		s.Stage(stored.Staging...)
	}
	return s, err
}

// Stage says that the sites at these hosts, all for none, have the text [Staging]. It
// belongs to the making of a schedule.
func (s *Schedule) Stage(hosts ...string) {
	if len(hosts) == 0 {
		hosts = []string{anyHost}
	}
	s.staging, s.staged = slices.Clone(hosts), request.HostsOfServer(nil)
	s.staged.Add(hosts)
}

// HasStaging reports whether the site at any host is for tests.
func (s *Schedule) HasStaging() bool { return s.staged != nil }

// IsStaging reports whether the site at a host is for tests.
func (s *Schedule) IsStaging(host string) bool {
	return s.staged != nil && (slices.Contains(s.staging, anyHost) || s.staged.Has(host))
}
