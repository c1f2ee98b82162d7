package judge

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestIdentifyApplication finds an application on a browser engine only if an option names
// it, whatever the robots.txt names.
func TestIdentifyApplication(t *testing.T) {
	const editor = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Code/1.99.3 Chrome/132.0.6834.210 Electron/34.5.1 Safari/537.36"
	registry := uaident.Default()
	robots := registry.NewOverlay([]string{"Code", "Cursor", "Operator"})
	named := []string{"token:Code"}
	for _, test := range []struct {
		name                         string
		enforce, exempt, exemptProof []string
		want                         string
	}{
		{"no option names it", nil, nil, nil, ""},
		{"an option names another", []string{"token:Cursor"}, nil, nil, ""},
		{"enforce", named, nil, nil, "Code"},
		{"exempt", nil, named, nil, "Code"},
		{"exempt verified", nil, nil, named, "Code"},
	} {
		var s Settings
		var err error
		if s.EnforceOnly, err = ParseSelector(registry, test.enforce, false); err != nil {
			t.Fatal(err)
		}
		if s.Exempt, err = ParseClientSet(registry, test.exempt, test.exemptProof); err != nil {
			t.Fatal(err)
		}
		s.SetConfiguredNames(registry)
		if client := s.Identify(registry, editor, robots); client.Token != test.want {
			t.Errorf("%s: %q, class %s, want %q", test.name, client.Token, client.Class, test.want)
		}
	}
}
