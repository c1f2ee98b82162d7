package origin

import (
	"strings"
	"testing"
)

// TestPlaceholdersInLocation refuses what would be read as it stands, braces and all, so that
// a file that is not there or an answer of 404 would restrict nothing.
func TestPlaceholdersInLocation(t *testing.T) {
	for args, want := range map[string]string{
		"file /srv/{host}/robots.txt":                       "source file: {host} is not filled in",
		"file /srv/{host}/robots.txt optional":              "source file: {host} is not filled in",
		"file /srv/{http.request.host}/robots.txt optional": "source file: {host} is not filled in",
		"file /srv/{env.SHOP}.txt optional":                 "source: {env.SHOP} is not filled in; an environment variable is written as {$NAME}",
		"file /srv/{http.vars.root}.txt optional":           "source: {http.vars.root} is not filled in",
		"https://a.test/{env.SHOP}/robots.txt":              "source: {env.SHOP} is not filled in; an environment variable is written as {$NAME}",
		"https://{http.request.host.labels.1}.test/r.txt":   "source: {http.request.host.labels.1} is not filled in",
		"https://a.test/robots.txt host {env.SHOP}":         "source: {env.SHOP} is not filled in",
		"https://{host}/{env.SHOP}.txt":                     "source: {env.SHOP} is not filled in",
		"https://{host}/robots.txt host {host}":             "",
		"file /srv/a{b.txt":                                 "",
		"file /srv/a}{.txt":                                 "",
	} {
		l, err := ParseLocation(strings.Fields(args))
		if err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		if err := l.Validate("source", true); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}
