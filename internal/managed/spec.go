package managed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// spec is a schedule as it is stored and compared. It has no source positions.
type spec struct {
	Rules    []Rule   `json:"rules,omitempty"`
	Sitemaps []string `json:"sitemaps,omitempty"`
	Lines    []string `json:"lines,omitempty"`
	Staging  []string `json:"staging,omitempty"`
}

// anyHost represents all hosts in the staging hosts of a spec.
const anyHost = "*"

// Spec returns the schedule as JSON. Equal schedules have equal specs. The spec of an empty schedule
// is {}.
func (s *Schedule) Spec() []byte {
	data, err := json.Marshal(spec{s.rules, s.sitemaps, s.lines, s.staging})
	if err != nil {
		panic(fmt.Sprintf("rules that were checked: %v", err)) // only strings and times that RFC 3339 can represent
	}
	return data
}

// ParseSpec returns the schedule of a spec. Unknown fields are an error, because a part of the rules
// could have another effect. An unregistered crawler name is a product token, because another
// instance may have registered it.
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

// Stage makes hosts staging sites, which serve [Staging]. No hosts means all hosts. Stage must not be
// called after the schedule is in use.
func (s *Schedule) Stage(hosts ...string) {
	if len(hosts) == 0 {
		hosts = []string{anyHost}
	}
	s.staging, s.staged = slices.Clone(hosts), request.HostsOfServer(nil)
	s.staged.Add(hosts)
}

// HasStaging reports whether any host is a staging site.
func (s *Schedule) HasStaging() bool { return s.staged != nil }

// IsStaging reports whether a host is a staging site.
func (s *Schedule) IsStaging(host string) bool {
	return s.staged != nil && (slices.Contains(s.staging, anyHost) || s.staged.Has(host))
}
