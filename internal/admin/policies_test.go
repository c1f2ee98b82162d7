package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/notify"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// known is a running configuration with these policies.
type known struct {
	cache  *policy.Cache
	guard  *Guard
	alerts *alert.Manager
	// answer is the result of a fetch without a request. Nil means that such a fetch is impossible.
	answer func() policy.FetchResult
}

func (k known) Policies() []*policy.Entry { return k.cache.Entries() }
func (k known) EffectiveTimes() func(policy.Key) time.Time {
	return func(policy.Key) time.Time { return time.Time{} }
}
func (k known) EndGrace(policy.Key)                          {}
func (k known) Enforces(key policy.Key) bool                 { return key.Site == "enforced.test" }
func (known) Modes() map[string]string                       { return map[string]string{"enforced.test": "enforce"} }
func (known) Registry() *report.RegistryStatus               { return nil }
func (known) Proposals() []report.RegistryProposal           { return nil }
func (known) WithheldFrom(policy.Key) []string               { return nil }
func (k known) AlertManager() *alert.Manager                 { return k.alerts }
func (known) TestNotify(context.Context) []notify.TestResult { return []notify.TestResult{} }

func (known) Reports(now time.Time) *report.Source { return &report.Source{Now: now} }
func (k known) Guard(string) (string, *Guard)      { return "shop.test", k.guard }

func (known) LintFindings(_ policy.Key, v *policy.Version) *lint.Report {
	return lint.CheckParsed(v.Robots, lint.Options{})
}
func (k known) Policy(_, authority string) *policy.Entry {
	if authority != "unasked.test" {
		return nil
	}
	return k.cache.GetOrCreate(policy.Key{IsHTTPS: true, Host: authority, Site: authority}, policy.ConfiguredHosts)
}

func (k known) Fetch(_ context.Context, e *policy.Entry) error {
	if k.answer == nil {
		return errors.New("no request has come")
	}
	e.MakeDue()
	<-e.Refresh(policy.FreshnessPolicy{Default: 10 * time.Minute, Max: policy.MaxAge}, k.answer, nil)
	return nil
}

// learn returns the policies of sites with a fetched robots.txt.
func learn(keys ...policy.Key) known {
	bounds := policy.Bounds{Entries: 100, Bytes: 1 << 20, ConcurrentFetches: 8}
	cache := policy.NewCache(bounds, bounds, time.Now, nil)
	for _, key := range keys {
		text := "User-agent: *\nDisallow: /" + key.Server + "\n# " + key.String() + "\n"
		<-cache.GetOrCreate(key, policy.ConfiguredHosts).Refresh(policy.FreshnessPolicy{Default: 10 * time.Minute, Max: policy.MaxAge},
			func() policy.FetchResult { return policy.FetchResult{Status: 200, Body: []byte(text)} }, nil)
	}
	return known{cache: cache}
}

// ask sends a request to the API of a server with these policies.
func (k known) ask(t *testing.T, method, target, body string) (status int, answer string) {
	t.Helper()
	api := New(func() RunningConfig { return k })
	mux := http.NewServeMux()
	for _, route := range api.Routes() {
		mux.HandleFunc(route.Pattern, func(w http.ResponseWriter, r *http.Request) {
			err := route.Handler.ServeHTTP(w, r)
			var failed caddy.APIError
			if errors.As(err, &failed) {
				http.Error(w, failed.Err.Error(), failed.HTTPStatus)
			} else if err != nil {
				t.Errorf("%s: %v", target, err)
			}
		})
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(method, target, strings.NewReader(body)))
	if w.Code == http.StatusOK && (w.Header().Get("Content-Type") != "application/json" || !json.Valid(w.Body.Bytes())) {
		t.Errorf("%s is no JSON", target)
	}
	return w.Code, w.Body.String()
}

// TestAdminFindsPolicies returns the requested site and no other site of the same host.
func TestAdminFindsPolicies(t *testing.T) {
	secure := func(host string) policy.Key { return policy.Key{Site: "shop.test", IsHTTPS: true, Host: host} }
	plain := func(host string) policy.Key { return policy.Key{Site: "shop.test", Host: host} }
	for name, tc := range map[string]struct {
		known []policy.Key
		asked string
		want  string // authority; "" for none
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
			k := learn(tc.known...)
			status, body := k.ask(t, http.MethodGet, PoliciesPath+"/"+tc.asked, "")
			var got PolicyReport
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
			if status, _ := k.ask(t, http.MethodPost, PoliciesPath+"/"+tc.asked+"/refresh", ""); (status == http.StatusNotFound) != (tc.want == "") {
				t.Errorf("a refresh is answered with %d", status)
			}
		})
	}
}

// TestAdminRefreshes fetches a robots.txt before the response, which has the result.
func TestAdminRefreshes(t *testing.T) {
	key := policy.Key{Site: "shop.test", Host: "shop.test"}
	same := learn(key).cache.Get(key).State().Current
	for name, tc := range map[string]struct {
		answer  func() policy.FetchResult
		status  int
		outcome Outcome
		why     string
		rules   int // number in force
	}{
		"another text": {func() policy.FetchResult {
			return policy.FetchResult{Status: 200, Body: []byte("User-agent: *\nDisallow: /a\nDisallow: /b\n")}
		}, 200, Changed, "", 2},
		"the same text": {func() policy.FetchResult { return policy.FetchResult{Status: 200, Body: []byte(same.Robots.Text())} }, 200, Unchanged, "", 1},
		"not modified":  {func() policy.FetchResult { return policy.FetchResult{Status: 304} }, 200, Unchanged, "", 1},
		"no file":       {func() policy.FetchResult { return policy.FetchResult{Status: 404} }, 200, Changed, "", 0},
		"a failure":     {func() policy.FetchResult { return policy.FetchResult{Status: 503} }, 200, Failed, "the server answers status 503 Service Unavailable", 1},
		"no request":    {nil, 202, Waiting, "no request has come", 1},
	} {
		t.Run(name, func(t *testing.T) {
			k := learn(key)
			k.answer = tc.answer
			status, body := k.ask(t, http.MethodPost, PoliciesPath+"/shop.test/refresh", "")
			var got PolicyReport
			if err := json.Unmarshal([]byte(body), &got); err != nil || got.Refresh == nil {
				t.Fatalf("%v: %s", err, body)
			}
			want := PolicyRefresh{Outcome: tc.outcome, Reason: tc.why, VersionBefore: hashText(same), RuleCountBefore: 1}
			if status != tc.status || *got.Refresh != want || got.RuleCount != tc.rules {
				t.Errorf("%d, %+v, %d rules; want %d, %+v, %d rules", status, *got.Refresh, got.RuleCount, tc.status, want, tc.rules)
			}
			if e := k.cache.Get(key); tc.answer == nil && !e.IsDue(time.Now()) {
				t.Error("it is not due, so that the next request would not read it")
			}
		})
	}
	if status, _ := learn(key).ask(t, http.MethodGet, PoliciesPath+"/shop.test/refresh", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", status)
	}
}

// TestAdminTellsWhatProtectsNothing reports sites in enforce mode without anything to enforce.
func TestAdminTellsWhatProtectsNothing(t *testing.T) {
	for site, want := range map[string]string{"enforced.test": `"cause": "missing"`, "monitored.test": ""} {
		k := learn()
		<-k.cache.GetOrCreate(policy.Key{Site: site, Host: site}, policy.ConfiguredHosts).Refresh(policy.FreshnessPolicy{Default: 10 * time.Minute, Max: policy.MaxAge},
			func() policy.FetchResult { return policy.FetchResult{Status: http.StatusNotFound} }, nil)
		for _, path := range []string{PoliciesPath, PoliciesPath + "/" + site} {
			_, body := k.ask(t, http.MethodGet, path, "")
			if has := strings.Contains(body, "not_protecting"); has != (want != "") || !strings.Contains(body, want) {
				t.Errorf("%s: %s", path, body)
			}
		}
	}
}

// TestAdminTellsServersApart selects the policy of the named server.
func TestAdminTellsServersApart(t *testing.T) {
	one := policy.Key{Site: "shop.test", Host: "shop.test", Server: ":8001"}
	two := policy.Key{Site: "shop.test", Host: "shop.test", Server: ":8002"}
	k := learn(one, two)
	for server, want := range map[string]string{"": ":8001", ":8001": ":8001", ":8002": ":8002", ":8003": ""} {
		status, body := k.ask(t, http.MethodGet, PoliciesPath+"/shop.test?server="+server, "")
		var got PolicySummary
		if status == http.StatusOK {
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatal(err)
			}
		}
		if got.Server != want || (status == http.StatusOK) != (want != "") {
			t.Errorf("server %q: %d, got %q, want %q", server, status, got.Server, want)
		}
	}
	if status, _ := k.ask(t, http.MethodPost, PoliciesPath+"/shop.test/refresh?server=:8003", ""); status != http.StatusNotFound {
		t.Errorf("a refresh at a server that is none: %d", status)
	}
}

// TestAdminPagesHoldAll returns every policy once, however similar two policies are.
func TestAdminPagesHoldAll(t *testing.T) {
	keys := []policy.Key{
		{Source: "/srv/robots.txt"},
		{Site: "shop.test", Host: "shop.test"},
		{Site: "*.test", Host: "shop.test"},
		{Site: "", Host: "shop.test"},
		{Site: "shop.test", Host: "shop.test", ForwardedHost: "x.test"},
		{Site: "shop.test", Host: "shop.test", Server: ":8001"},
		{Site: "*.test", Host: "shop.test", Server: ":8001"},
		{Site: "shop.test", Host: "shop.test:8080"},
		{Site: "shop.test", Host: "shop.test", IsHTTPS: true},
	}
	k := learn(keys...)
	var all []string
	after := ""
	for range keys {
		status, body := k.ask(t, http.MethodGet, PoliciesPath+"?limit=1&after="+url.QueryEscape(after), "")
		var page PolicyList
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

func (known) Managed() []*publish.Publisher { return nil }
