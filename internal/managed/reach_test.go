package managed

import (
	"slices"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/placement"
)

func TestProbesOf(t *testing.T) {
	for name, tc := range map[string]struct {
		text placement.Text
		want []string
	}{
		"named":     {placement.Text{Hosts: []string{"a.test", "b.test"}}, []string{"a.test", "b.test"}},
		"wildcard":  {placement.Text{Hosts: []string{"*.a.test"}}, []string{"robots-guard-check.a.test"}},
		"any":       {placement.Text{}, []string{"robots-guard-check.invalid"}},
		"some only": {placement.Text{Hosts: []string{"a.test"}, Chooses: true}, nil},
	} {
		if got := probesOf(tc.text); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
}
