package managed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Spec has everything that determines the files of a site, except the bases. Its JSON is the stored
// form of a schedule.
type Spec struct {
	Rules    []Rule   `json:"rules,omitempty"` // of the configuration
	Lists    []List   `json:"lists,omitempty"`
	Sitemaps []string `json:"sitemaps,omitempty"`
	Lines    []string `json:"lines,omitempty"`
	// Staging are the hosts that serve [Staging]. [AllHosts] selects all hosts.
	Staging []string `json:"staging,omitempty"`
}

// List is a list of rules.
type List struct {
	Name  string `json:"name"`
	Rules []Rule `json:"rules,omitempty"`
}

// AllHosts in Spec.Staging selects all hosts.
const AllHosts = "*"

// clone returns a spec whose rules can be modified.
func (s Spec) clone() Spec {
	s.Rules, s.Lists = slices.Clone(s.Rules), slices.Clone(s.Lists)
	for i := range s.Lists {
		s.Lists[i].Rules = slices.Clone(s.Lists[i].Rules)
	}
	return s
}

// Spec returns the schedule as JSON without source positions. Equal schedules have equal specs. The
// spec of an empty schedule is {}.
func (s *Schedule) Spec() []byte {
	data, err := json.Marshal(s.spec)
	if err != nil {
		panic(fmt.Sprintf("rules that were checked: %v", err)) // only strings
	}
	return data
}

// ParseSpec returns the schedule of a spec. Unknown fields are an error, because a part of the rules
// could have another effect. An unregistered crawler name is a product token, because another
// instance may have registered it.
func ParseSpec(registry *uaident.Registry, data []byte) (*Schedule, error) {
	var stored Spec
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&stored); err != nil {
		return nil, fmt.Errorf("stored rules: %w", err)
	}
	names := newNames(registry)
	names.stored = true
	return makeSchedule(names, stored)
}

// HasStaging reports whether any host is a staging site.
func (s *Schedule) HasStaging() bool { return s.stagingHosts != nil }

// IsStaging reports whether a host is a staging site.
func (s *Schedule) IsStaging(host string) bool {
	return s.stagingHosts != nil && (slices.Contains(s.spec.Staging, AllHosts) || s.stagingHosts.Has(host))
}
