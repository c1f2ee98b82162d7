package caddymodule

import (
	"strings"
	"testing"
)

// TestHostInLocation parses locations that contain the host of a request.
func TestHostInLocation(t *testing.T) {
	for args, want := range map[string]Location{
		"https://{host}/robots.txt":                   {URL: "https://{host}/robots.txt"},
		"https://{http.request.host}/robots.txt":      {URL: "https://{host}/robots.txt"},
		"http://files.test/{host}/robots-{host}.txt":  {URL: "http://files.test/{host}/robots-{host}.txt"},
		"http://10.0.0.5:8080/robots.txt host {host}": {URL: "http://10.0.0.5:8080/robots.txt", Host: "{host}"},
	} {
		l, err := ParseLocation(strings.Fields(args))
		if err != nil || *l != want || !l.HasHost() || l.Validate("source", true) != nil {
			t.Errorf("%s: %+v, %v, %v", args, l, err, l.Validate("source", true))
		}
	}
}

// TestInvalidLocations rejects invalid arguments and hosts.
func TestInvalidLocations(t *testing.T) {
	for _, args := range []string{"http://a.test/robots.txt host", "http://a.test/robots.txt host b.test c", "file /x host b.test"} {
		if l, err := ParseLocation(strings.Fields(args)); err == nil {
			t.Errorf("%s: %v", args, l)
		}
	}
	for _, host := range []string{"a/b", "u@a", "a?", "a#"} {
		if err := (&Location{URL: "http://a.test/robots.txt", Host: host}).Validate("source", true); err == nil {
			t.Errorf("host %s is valid", host)
		}
	}
	if err := (&Location{File: "/x", Host: "a.test"}).Validate("source", true); err == nil {
		t.Error("a file has a host")
	}
}

// TestPlaceholdersInLocation rejects placeholders that nothing replaces. The missing file or the
// response 404 would restrict nothing.
func TestPlaceholdersInLocation(t *testing.T) {
	for args, want := range map[string]string{
		"file /srv/{host}/robots.txt":                       "source file: {host} has no value",
		"file /srv/{host}/robots.txt optional":              "source file: {host} has no value",
		"file /srv/{http.request.host}/robots.txt optional": "source file: {host} has no value",
		"file /srv/{env.SHOP}.txt optional":                 "source: {env.SHOP} has no value; an environment variable is written as {$NAME}",
		"file /srv/{http.vars.root}.txt optional":           "source: {http.vars.root} has no value",
		"https://a.test/{env.SHOP}/robots.txt":              "source: {env.SHOP} has no value; an environment variable is written as {$NAME}",
		"https://{http.request.host.labels.1}.test/r.txt":   "source: {http.request.host.labels.1} has no value",
		"https://a.test/robots.txt host {env.SHOP}":         "source: {env.SHOP} has no value",
		"https://{host}/{env.SHOP}.txt":                     "source: {env.SHOP} has no value",
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
