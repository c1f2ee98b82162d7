package caddymodule

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// adminOf serves the admin API of a server that knows these sites.
func adminOf(t *testing.T, keys ...policy.Key) {
	t.Helper()
	i := newInstance(newMemory(), "first", noon)
	for _, key := range keys {
		i.learn(key, policy.Named, "# "+key.String()+" "+key.Server+"\n")
	}
	before := currentState.Swap(i.state)
	t.Cleanup(func() { currentState.Store(before) })
}

// TestAdminFindsPolicies answers for the site that was asked for, and for no
// other one of the same host.
func TestAdminFindsPolicies(t *testing.T) {
	secure := func(host string) policy.Key { return policy.Key{Site: "shop.test", Secure: true, Host: host} }
	plain := func(host string) policy.Key { return policy.Key{Site: "shop.test", Host: host} }
	for name, tc := range map[string]struct {
		known []policy.Key
		asked string
		want  string // authority, "" for none
	}{
		"itself":                    {[]policy.Key{secure("shop.test")}, "shop.test", "https://shop.test"},
		"https before http":         {[]policy.Key{plain("shop.test"), secure("shop.test")}, "shop.test", "https://shop.test"},
		"http":                      {[]policy.Key{plain("shop.test"), secure("shop.test")}, "http:/shop.test", "http://shop.test"},
		"its port":                  {[]policy.Key{secure("shop.test"), secure("shop.test:8443")}, "shop.test:8443", "https://shop.test:8443"},
		"another port":              {[]policy.Key{secure("shop.test:8443")}, "shop.test:9999", ""},
		"a port, not the default":   {[]policy.Key{secure("shop.test")}, "shop.test:9999", ""},
		"the default port":          {[]policy.Key{secure("shop.test")}, "shop.test:443", "https://shop.test"},
		"that of the other scheme":  {[]policy.Key{secure("shop.test")}, "shop.test:80", ""},
		"no port, where it has one": {[]policy.Key{secure("shop.test:8443")}, "shop.test", "https://shop.test:8443"},
		"capitals":                  {[]policy.Key{secure("shop.test")}, "Shop.test", "https://shop.test"},
		"a host that it ends with":  {[]policy.Key{secure("shop.test")}, "hop.test", ""},
	} {
		t.Run(name, func(t *testing.T) {
			adminOf(t, tc.known...)
			status, body := adminAnswer(t, http.MethodGet, adminPrefix+"/"+tc.asked)
			var got policyReport
			if status == http.StatusOK {
				if err := json.Unmarshal([]byte(body), &got); err != nil {
					t.Fatal(err)
				}
			} else if status != http.StatusNotFound {
				t.Errorf("status %d: %s", status, body)
			}
			if got.Authority != tc.want {
				t.Errorf("got %q, want %q", got.Authority, tc.want)
			}
			if status, _ := adminAnswer(t, http.MethodPost, adminPrefix+"/"+tc.asked+"/refresh"); (status == http.StatusNotFound) != (tc.want == "") {
				t.Errorf("a refresh is answered with %d", status)
			}
		})
	}
}

// TestAdminTellsServersApart answers for the server that is named.
func TestAdminTellsServersApart(t *testing.T) {
	one := policy.Key{Site: "shop.test", Host: "shop.test", Server: ":8001"}
	two := policy.Key{Site: "shop.test", Host: "shop.test", Server: ":8002"}
	adminOf(t, one, two)
	for server, want := range map[string]string{"": ":8001", ":8001": ":8001", ":8002": ":8002", ":8003": ""} {
		status, body := adminAnswer(t, http.MethodGet, adminPrefix+"/shop.test?server="+server)
		var got policySummary
		if status == http.StatusOK {
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatal(err)
			}
		}
		if got.Server != want || (status == http.StatusOK) != (want != "") {
			t.Errorf("server %q: %d, got %q, want %q", server, status, got.Server, want)
		}
	}
	if status, _ := adminAnswer(t, http.MethodPost, adminPrefix+"/shop.test/refresh?server=:8003"); status != http.StatusNotFound {
		t.Errorf("a refresh at a server that is none: %d", status)
	}
}

// TestAdminPagesHoldAll gives every policy once, however alike two are.
func TestAdminPagesHoldAll(t *testing.T) {
	keys := []policy.Key{
		{Source: "/srv/robots.txt"},
		{Site: "shop.test", Host: "shop.test"},
		{Site: "*.test", Host: "shop.test"},
		{Site: "", Host: "shop.test"},
		{Site: "shop.test", Host: "shop.test", Forwarded: "x.test"},
		{Site: "shop.test", Host: "shop.test", Server: ":8001"},
		{Site: "*.test", Host: "shop.test", Server: ":8001"},
		{Site: "shop.test", Host: "shop.test:8080"},
		{Site: "shop.test", Host: "shop.test", Secure: true},
	}
	adminOf(t, keys...)
	var all []string
	after := ""
	for range keys {
		status, body := adminAnswer(t, http.MethodGet, adminPrefix+"?limit=1&after="+url.QueryEscape(after))
		var page policyList
		if err := json.Unmarshal([]byte(body), &page); status != http.StatusOK || err != nil || len(page.Policies) != 1 || page.Total != len(keys) {
			t.Fatalf("after %q: %d, %v: %s", after, status, err, body)
		}
		all = append(all, page.Policies[0].Authority)
		if after = page.Next; after == "" {
			break
		}
	}
	if len(all) != len(keys) || after != "" {
		t.Errorf("%d of %d are listed, then %q: %s", len(all), len(keys), after, strings.Join(all, ", "))
	}
}
