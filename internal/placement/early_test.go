package placement

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// What stands before a guard and should stand behind it is told, and nothing that is
// right or may be meant so.
func TestEarly(t *testing.T) {
	const guard = `{"handler": "robots_guard"}`
	site := func(routes string) string {
		return `[{"match": [{"host": ["a"]}], "handle": [{"handler": "subroute", "routes": [` + routes + `]}], "terminal": true}]`
	}
	// first is a handler before the guard, with a matcher.
	first := func(match, handler string) string {
		return site(`{"match": [` + match + `], "handle": [` + handler + `]}, {"handle": [` + guard + `]}`)
	}
	// only is a guard with a matcher, a cache for the same before it.
	only := func(cached, guarded string) string {
		return site(`{"match": [` + cached + `], "handle": [{"handler": "cache"}]}, {"match": [` + guarded + `], "handle": [` + guard + `]}`)
	}
	const (
		cache   = `{"handler": "cache"}`
		limiter = `{"handler": "rate_limit", "rate_limits": {"z": {"key": "{http.robots_guard.crawler}"}}}`
	)
	for name, test := range map[string]struct {
		routes string
		want   []string // directives
	}{
		"a cache":                          {site(`{"handle": [` + cache + `, ` + guard + `]}`), []string{"cache"}},
		"a cache in a route of its own":    {site(`{"handle": [` + cache + `]}, {"handle": [` + guard + `]}`), []string{"cache"}},
		"a cache around all sites":         {`[{"handle": [` + cache + `]}, {"match": [{"host": ["a"]}], "handle": [` + guard + `]}]`, []string{"cache"}},
		"a cache in handle":                {site(`{"group": "g", "match": [{"path": ["/x"]}], "handle": []}, {"group": "g", "handle": [{"handler": "subroute", "routes": [{"handle": [` + cache + `, ` + guard + `]}]}]}`), []string{"cache"}},
		"two caches":                       {site(`{"handle": [` + cache + `, {"handler": "souin"}, ` + cache + `, ` + guard + `]}`), []string{"cache", "souin"}},
		"a robots_txt":                     {site(`{"handle": [{"handler": "robots_txt"}, ` + guard + `]}`), []string{"robots_txt"}},
		"a robots_txt behind":              {site(`{"handle": [` + guard + `, {"handler": "robots_txt"}]}`), nil},
		"a robots_txt between two":         {site(`{"handle": [` + guard + `, {"handler": "robots_txt"}, ` + guard + `]}`), nil},
		"a robots_txt of another site":     {`[{"match": [{"host": ["b"]}], "handle": [{"handler": "robots_txt"}]}, {"match": [{"host": ["a"]}], "handle": [` + guard + `]}]`, nil},
		"a cache behind":                   {site(`{"handle": [` + guard + `, ` + cache + `]}`), nil},
		"a cache in another handle":        {site(`{"group": "g", "match": [{"path": ["/x"]}], "handle": [` + cache + `]}, {"group": "g", "handle": [` + guard + `]}`), nil},
		"a cache of another site":          {`[{"match": [{"host": ["b"]}], "handle": [` + cache + `]}, {"match": [{"host": ["a"]}], "handle": [` + guard + `]}]`, nil},
		"of another site, both terminal":   {`[{"match": [{"host": ["b"]}], "handle": [` + cache + `], "terminal": true}, {"match": [{"host": ["a"]}], "handle": [` + guard + `]}]`, nil},
		"a cache of pictures":              {first(`{"path": ["*.png"]}`, cache), []string{"cache"}},
		"a cache without sessions":         {first(`{"header": {"Cookie": null}, "method": ["GET"]}`, cache), []string{"cache"}},
		"a cache of all but the API":       {first(`{"not": [{"path": ["/api/*"]}]}`, cache), []string{"cache"}},
		"a cache for people":               {first(`{"not": [{"robots_crawler": {}}]}`, cache), nil},
		"a cache for some User-Agents":     {first(`{"header": {"user-agent": ["*Firefox*"]}}`, cache), nil},
		"a cache for some by regexp":       {first(`{"header_regexp": {"User-Agent": {"pattern": "Firefox"}}}`, cache), nil},
		"a cache by an expression":         {first(`{"expression": "x"}`, cache), nil},
		"a cache for some addresses":       {first(`{"remote_ip": {"ranges": ["10.0.0.0/8"]}}`, cache), nil},
		"the same paths":                   {only(`{"path": ["/a/*"]}`, `{"path": ["/a/*"]}`), []string{"cache"}},
		"paths below":                      {only(`{"path": ["/a/b/*"]}`, `{"path": ["/a/*"]}`), []string{"cache"}},
		"other paths":                      {only(`{"path": ["/a/*"]}`, `{"path": ["/b/*"]}`), nil},
		"pictures, and a guard for pages":  {only(`{"path": ["*.png"]}`, `{"not": [{"path": ["*.png"]}]}`), nil},
		"for people or pictures":           {first(`{"not": [{"robots_crawler": {}}]}, {"path": ["*.png"]}`, cache), nil},
		"paths in two sets":                {only(`{"method": ["GET"], "path": ["/x"]}, {"path": ["/a/b"]}`, `{"path": ["/a/*"]}`), []string{"cache"}},
		"other paths in two sets":          {only(`{"path": ["/x"]}, {"path": ["/b/*"]}`, `{"path": ["/a/*"]}`), nil},
		"a host in one set, not the other": {`[{"match": [{"host": ["b"]}, {"path": ["/x"]}], "handle": [` + cache + `]}, {"match": [{"host": ["a"], "path": ["/x"]}], "handle": [` + guard + `]}]`, []string{"cache"}},
		"GET, and a guard for paths":       {only(`{"method": ["GET"]}`, `{"path": ["/a/*"]}`), []string{"cache"}},
		"an expression, a guard for paths": {only(`{"expression": "x"}`, `{"path": ["/a/*"]}`), nil},

		"a limiter by crawler":           {site(`{"handle": [` + limiter + `, ` + guard + `]}`), []string{"rate_limit"}},
		"a limiter by crawler behind":    {site(`{"handle": [` + guard + `, ` + limiter + `]}`), nil},
		"a limiter by address":           {first(``, `{"handler": "rate_limit", "rate_limits": {"z": {"key": "{http.request.remote.host}"}}}`), nil},
		"behind the first of two guards": {site(`{"handle": [` + guard + `, ` + limiter + `, ` + guard + `]}`), nil},
		"a header":                       {first(``, `{"handler": "headers", "response": {"set": {"X-V": ["{http.robots_guard.verdict}"]}}}`), []string{"header"}},
		"a header that is set last":      {first(``, `{"handler": "headers", "response": {"deferred": true, "set": {"X-V": ["{http.robots_guard.verdict}"]}}}`), nil},
		"a header if there is none":      {first(``, `{"handler": "headers", "response": {"require": {"headers": {"X-V": null}}, "set": {"X-V": ["{http.robots_guard.verdict}"]}}}`), nil},
		"a header of the request":        {first(``, `{"handler": "headers", "request": {"set": {"X-V": ["{http.robots_guard.verdict}"]}}}`), []string{"header"}},
		"a variable":                     {first(``, `{"handler": "vars", "v": "{http.robots_guard.crawler}"}`), []string{"vars"}},
		"a field of the log":             {first(``, `{"handler": "log_append", "key": "v", "value": "{http.robots_guard.verdict}"}`), nil},
		"a matcher":                      {first(`{"vars": {"{http.robots_guard.verdict}": ["disallowed"]}}`, `{"handler": "subroute", "routes": [{"handle": [{"handler": "log_append"}]}]}`), []string{"the matcher vars"}},
		"a matcher, one of two sets":     {first(`{"method": ["PUT"]}, {"expression": "{http.robots_guard.class} == 'seo'"}`, `{"handler": "vars"}`), []string{"the matcher expression"}},
		"a matcher of another handle":    {site(`{"group": "g", "match": [{"expression": "{http.robots_guard.class} == 'seo'"}], "handle": [{"handler": "vars"}]}, {"group": "g", "handle": [` + guard + `]}`), []string{"the matcher expression"}},
		"a matcher of the guard":         {site(`{"match": [{"expression": "{http.robots_guard.class} == 'seo'"}], "handle": [` + guard + `]}`), []string{"the matcher expression"}},
		"a matcher behind":               {site(`{"handle": [` + guard + `]}, {"match": [{"expression": "{http.robots_guard.class} == 'seo'"}], "handle": [{"handler": "vars"}]}`), nil},
		"a matcher behind the first":     {site(`{"handle": [` + guard + `]}, {"match": [{"expression": "{http.robots_guard.class} == 'seo'"}], "handle": [{"handler": "vars"}, ` + guard + `]}`), nil},
		"a matcher of another site":      {`[{"match": [{"host": ["b"], "expression": "{http.robots_guard.class} == 'seo'"}], "handle": [{"handler": "vars"}]}, {"match": [{"host": ["a"]}], "handle": [` + guard + `]}]`, nil},
		"a rate":                         {first(`{"robots_rate": {"states": ["over"]}}`, `{"handler": "headers"}`), []string{"the matcher robots_rate"}},
		"a preference":                   {first(`{"robots_crawler": {}, "robots_preference": {"preferences": ["train-ai=n"]}}`, `{"handler": "headers", "response": {"deferred": true}}`), []string{"the matcher robots_preference"}},
		"a preference that is not":       {first(`{"not": [{"path": ["/x"], "robots_preference": {"preferences": ["train-ai=n"]}}]}`, `{"handler": "headers"}`), []string{"the matcher robots_preference"}},
		"a rate in an expression":        {first(`{"expression": {"expr": "robots_rate('over') && path('/x')"}}`, `{"handler": "headers"}`), []string{"the matcher robots_rate"}},
		"a rate behind":                  {site(`{"handle": [` + guard + `]}, {"match": [{"robots_rate": {"states": ["over"]}}], "handle": [{"handler": "headers"}]}`), nil},
		"what asks for itself":           {first(`{"robots_disallowed": {}}`, `{"handler": "headers"}`), nil},
		"words of others":                {first(``, `{"handler": "headers", "response": 5, "x": "{http.robots_guard.verdict}"}`), nil},
	} {
		var got []string
		for _, p := range placedIn(t, routesIn(t, test.routes)) {
			for _, e := range p.Early {
				got = append(got, e.Handler)
				if (e.Handler == RobotsTXT) != (e.Why == whyText) || strings.HasPrefix(e.Handler, "the matcher robots_") != (e.Why == whyMatcher) {
					t.Errorf("%s: %s: %s", name, e.Handler, e.Why)
				}
			}
		}
		if slices.Sort(got); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

// What a matcher keeps out can be read when it is provisioned, too.
func TestNotIsReadWhenProvisioned(t *testing.T) {
	not := &caddyhttp.MatchNot{MatcherSets: []caddyhttp.MatcherSet{{&caddyhttp.MatchPath{"/robots.txt"}}}}
	routes := routesOf(caddyhttp.RouteList{{
		MatcherSets: caddyhttp.MatcherSets{{not}},
		HandlersRaw: []json.RawMessage{json.RawMessage(`{"handler": "cache"}`)},
	}, {HandlersRaw: []json.RawMessage{json.RawMessage(`{"handler": "robots_txt"}`)}}})
	if placed := placedIn(t, routes); len(placed) != 1 || placed[0].Cached != "" {
		t.Errorf("got %+v", placed[0])
	}
}
