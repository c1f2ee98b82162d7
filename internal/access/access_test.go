package access

import (
	"net/http"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// What an answer says about who may have the file, and what it leaves open.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		status   int
		location string
		by       string
		want     bool
	}{
		{200, "", "basic_auth", false},
		{401, "", "basic_auth", true},
		{403, "", "coraza_waf", true},
		{407, "", "forward_auth", true},
		{451, "", "respond", true},
		{404, "", "respond", false},
		{429, "", "defender", false},
		{502, "", "forward_auth", false},
		{0, "", "respond", false},
		{302, "https://auth.a.test/?rd=x", "forward_auth", true},
		{302, "https://auth.a.test/?rd=x", "basic_auth", false}, // the site's own
		{302, "/static/robots.txt", "forward_auth", false},
		{307, "https://A.test:8443/robots.txt", "forward_auth", false},
		{302, "https://www.a.test/robots.txt", "forward_auth", false},
		{301, "https://b.test/robots.txt", "forward_auth", false},
		{302, "http://[", "forward_auth", false},
	} {
		answer := policy.Answer{Status: test.status, Header: http.Header{"Location": {test.location}}}
		if got := refused(answer, []string{"a.test", "www.a.test"}, []string{test.by}); got != test.want {
			t.Errorf("%d to %q through %s: %t", test.status, test.location, test.by, got)
		}
	}
}
