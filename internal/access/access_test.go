package access

import (
	"net/http"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/placement"
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

// Which host a warning is about: one of the owner's, or one that nobody has, in the place
// of a wildcard or of any.
func TestWarn(t *testing.T) {
	for _, test := range []struct {
		hosts   []string
		proxied bool
		want    string
	}{
		{[]string{"a.test"}, false, "the guard cannot read the robots.txt of this site"},
		{[]string{"*.a.test"}, false, "of a host that nobody has"},
		{nil, false, "of a host that nobody has"},
		{nil, false, "which comes from 192.0.2.1 and has no login, is refused"},
		{nil, true, "its request, which has no login, is refused"},
	} {
		core, logs := observer.New(zap.WarnLevel)
		r := placement.Read{Hosts: test.hosts, By: []string{"basic_auth", "respond"}, Proxied: test.proxied}
		warn(zap.New(core), placement.ProbeHosts(r.Hosts)[0], http.StatusForbidden, r)
		for _, piece := range []string{test.want, "on the way: basic_auth, respond"} {
			if said := logs.All()[0].Message; !strings.Contains(said, piece) {
				t.Errorf("%q: %q lacks %q", test.hosts, said, piece)
			}
		}
	}
}
