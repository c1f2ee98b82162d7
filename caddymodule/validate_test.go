package caddymodule

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// TestValidate checks values that only JSON can have. Files in testdata/adapt cover the other
// mistakes.
func TestValidate(t *testing.T) {
	second, on := caddy.Duration(time.Second), new(Verify)
	for _, tc := range []struct {
		name   string
		module caddy.Validator
		want   string
	}{
		{"no options", &Handler{}, ""},
		{"no options of the app", &App{}, ""},
		{"grace turned off", &Handler{Grace: -1}, ""},
		{"mode", &Handler{Mode: "block"}, `unknown mode "block"; use monitor or enforce`},
		{"unreachable", &Handler{Unreachable: "deny"}, `unknown value "deny" for unreachable; use last_good, allow, disallow or disallow_google`},
		{"spoofed", &Handler{Spoofed: "deny"}, `unknown value "deny" for spoofed; use judge, block or log`},
		{"fetch_timeout", &Handler{FetchTimeout: -second}, "have to be positive durations"},
		{"fetch_wait", &Handler{FetchWait: -second}, "have to be positive durations"},
		{"change_guard", &Handler{ChangeGuard: -second}, "have to be positive durations"},
		{"fetch_wait beyond the default of fetch_timeout", &Handler{FetchWait: 6 * second}, "fetch_wait 6s is longer than fetch_timeout 5s"},
		{"ttl_min", &Handler{TTLMin: -second}, "ttl must be from 0 to 24h"},
		{"ttl_max", &Handler{TTLMax: -second}, "ttl must be from 0 to 24h"},
		{"status", &Handler{Status: -1}, "status -1 is not an error status"},
		{"empty source", &Handler{Source: &Location{}}, "source needs either a URL or a file"},
		{"source of two", &Handler{Source: &Location{URL: "https://a.test/", File: "a"}}, "source needs either a URL or a file"},
		{"source by another scheme", &Handler{Source: &Location{URL: "ftp://a.test/"}}, "is not an http or https URL"},
		{"grace without a unit", &Handler{Grace: 24}, `grace 24ns is too short; write a unit, in JSON as a string, for example "24h"`},
		{"ttl_max without a unit", &Handler{TTLMax: 86400}, "ttl_max 86.4µs is too short"},
		{"as short as can be", &Handler{FetchWait: 1, TTLMin: 1}, ""}, // 1 ns, because 0 means the default
		{"fetch_wait of a millisecond", &Handler{FetchWait: caddy.Duration(time.Millisecond)}, ""},
		{"a limit of null", &Handler{Rate: &Rate{Limits: []RateLimit{{Client: "GPTBot", Concurrent: 2}, {}}}}, "rate: limit 2 has no client; give a product token or class such as GPTBot, with requests and per, or concurrent"},
		{"a limit without a client", &Handler{Rate: &Rate{Limits: []RateLimit{{Requests: 3, Per: second}}}}, "rate: limit 1 has no client"},
		{"exempt_verified", &Handler{ExemptVerified: []string{"browser"}}, "exempt: browsers are never judged"},
		{"policies", &App{MaxPolicies: -1}, "policies -1 is out of range; use a number from 1 to 1000000"},
		{"unknown_hosts", &App{UnknownHosts: maxPolicies + 1}, "unknown_hosts 1000001 is out of range"},
		{"unknown_host_fetches", &App{UnknownHostFetches: -1}, "unknown_host_fetches -1 is out of range; use a number from 1 to 1000"},
		{"retention", &App{Retention: -second}, "retention -1s is out of range"},
		{"ranges", &App{Verify: &Verify{Ranges: "all"}}, `unknown value "all" for ranges; use official, configured or off`},
		{"empty address list", &App{Verify: on, Crawlers: []Crawler{{Token: "AcmeBot", Ranges: []CrawlerRanges{{}}}}}, "give either a file or a URL"},
		{"domain that is not used", &App{Verify: &Verify{NoRDNS: true}, Crawlers: []Crawler{{Token: "AcmeBot", RDNS: []string{"com"}}}}, "needs at least two labels"},
		{"crawler without a token", &App{Crawlers: []Crawler{{}}}, "crawler"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			switch err := tc.module.Validate(); {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
}

// TestUnknownNamesInJSON rejects unknown names in JSON, and accepts names that the app adds.
func TestUnknownNamesInJSON(t *testing.T) {
	app := &App{Storage: new(bool), Crawlers: []Crawler{{Token: "AcmeSpider"}}}
	for name, tc := range map[string]struct {
		h    Handler
		want string // "" for none
	}{
		"misspelt":            {Handler{Exempt: []string{"Googelbot"}}, "did you mean Googlebot?"},
		"of the app":          {Handler{Exempt: []string{"acmespider"}}, ""},
		"nearly that":         {Handler{OnlyLogVerified: []string{"AcmeSpidre"}}, "did you mean AcmeSpider?"},
		"token: prefix":       {Handler{OnlyLog: []string{"token:NewBot"}}, ""},
		"an exempt class":     {Handler{Exempt: []string{"crawler"}, Rate: &Rate{Limits: []RateLimit{{Client: "AcmeSpider", Concurrent: 3}}}}, "because its class crawler is in exempt"},
		"enforced and exempt": {Handler{Mode: modeEnforce, EnforceOnly: []string{"AcmeSpider"}, Exempt: []string{"crawler"}}, "AcmeSpider is in enforce, but exempt contains its class crawler"},
		"twice":               {Handler{OnlyLog: []string{"token:NewBot"}, Exempt: []string{"newbot"}}, "keep only one of the two"},
	} {
		raw, err := json.Marshal(app)
		if err != nil {
			t.Fatal(err)
		}
		ctx, err := caddy.ProvisionContext(&caddy.Config{Admin: &caddy.AdminConfig{Disabled: true}, AppsRaw: caddy.ModuleMap{"robots_guard": raw}})
		if err != nil {
			t.Fatal(err)
		}
		err = tc.h.Provision(ctx)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
