package placement

import (
	"strings"
	"testing"
)

// Which robots_txt all requests come to through a guard, and which a cache may answer
// for.
func TestBeforeText(t *testing.T) {
	const guard, text = `{"handler": "robots_guard"}`, `{"handler": "robots_txt"}`
	inside := func(handlers string) string {
		return `[{"match": [{"host": ["a"]}], "handle": [{"handler": "subroute", "routes": [` + handlers + `]}], "terminal": true}]`
	}
	for name, test := range map[string]struct {
		routes  string
		guarded bool
		cached  string
	}{
		"a guard":                    {inside(`{"handle": [` + guard + `]}, {"handle": [` + text + `]}`), true, ""},
		"in one route":               {inside(`{"handle": [` + guard + `, ` + text + `]}`), true, ""},
		"none":                       {inside(`{"handle": [` + text + `]}`), false, ""},
		"behind it":                  {inside(`{"handle": [` + text + `]}, {"handle": [` + guard + `]}`), false, ""},
		"for some only":              {inside(`{"match": [{"path": ["/x"]}], "handle": [` + guard + `]}, {"handle": [` + text + `]}`), false, ""},
		"for the same":               {inside(`{"match": [{"path": ["/robots.txt"]}], "handle": [` + guard + `]}, {"match": [{"path": ["/robots.txt"]}], "handle": [` + text + `]}`), true, ""},
		"for fewer":                  {inside(`{"match": [{"method": ["GET"]}], "handle": [` + guard + `]}, {"match": [{"method": ["GET"]}, {"method": ["HEAD"]}], "handle": [` + text + `]}`), false, ""},
		"at another host":            {`[{"match": [{"host": ["b"]}], "handle": [` + guard + `]}, {"handle": [` + text + `]}]`, false, ""},
		"around the hosts":           {`[{"handle": [` + guard + `]}, {"match": [{"host": ["b"]}], "handle": [` + text + `]}]`, true, ""},
		"in another of a group":      {inside(`{"group": "g", "match": [{"path": ["/x"]}], "handle": [` + guard + `]}, {"group": "g", "handle": [` + text + `]}`), false, ""},
		"in the same of a group":     {inside(`{"group": "g", "handle": [{"handler": "subroute", "routes": [{"handle": [` + guard + `]}, {"handle": [` + text + `]}]}]}`), true, ""},
		"in the tenth of a group":    {inside(`{"handle": []}, {"group": "g", "handle": [` + guard + `]}` + strings.Repeat(`,{"handle": []}`, 8) + `,{"group": "g", "handle": [` + text + `]}`), false, ""},
		"a cache":                    {inside(`{"handle": [{"handler": "cache"}]}, {"handle": [` + guard + `, ` + text + `]}`), true, "cache"},
		"a cache between":            {inside(`{"handle": [` + guard + `, {"handler": "http_cache"}, ` + text + `]}`), true, "http_cache"},
		"a cache behind":             {inside(`{"handle": [` + guard + `, ` + text + `, {"handler": "cache"}]}`), true, ""},
		"a cache of pictures":        {inside(`{"match": [{"path": ["*.png", "/img/*"]}], "handle": [{"handler": "cache"}]}, {"handle": [` + guard + `, ` + text + `]}`), true, ""},
		"a cache of all texts":       {inside(`{"match": [{"path": ["*.txt"]}], "handle": [{"handler": "cache"}]}, {"handle": [` + guard + `, ` + text + `]}`), true, "cache"},
		"a cache of all but that":    {inside(`{"match": [{"not": [{"path": ["/robots.txt"]}]}], "handle": [{"handler": "cache"}]}, {"handle": [` + guard + `, ` + text + `]}`), true, ""},
		"a cache of all but logins":  {inside(`{"match": [{"not": [{"path": ["/login"]}]}], "handle": [{"handler": "cache"}]}, {"handle": [` + guard + `, ` + text + `]}`), true, "cache"},
		"a cache of that, in a set":  {inside(`{"match": [{"path": ["*.png"]}, {"path": ["/robots.txt"]}], "handle": [{"handler": "cache"}]}, {"handle": [` + guard + `, ` + text + `]}`), true, "cache"},
		"a cache of two pictures":    {inside(`{"match": [{"path": ["*.png"]}, {"method": ["GET"], "path": ["*.gif"]}], "handle": [{"handler": "cache"}]}, {"handle": [` + guard + `, ` + text + `]}`), true, ""},
		"a cache in another route":   {inside(`{"group": "g", "match": [{"path": ["/x"]}], "handle": [{"handler": "cache"}]}, {"group": "g", "handle": [` + guard + `, ` + text + `]}`), true, ""},
		"a cache around all servers": {`[{"handle": [{"handler": "cache"}]}, {"match": [{"host": ["b"]}], "handle": [` + guard + `, ` + text + `]}]`, true, "cache"},
	} {
		for _, p := range placedIn(t, routesIn(t, test.routes)) {
			if p.Name == RobotsTXT && (p.Guarded != test.guarded || p.Cached != test.cached) {
				t.Errorf("%s: guarded %t, cached by %q", name, p.Guarded, p.Cached)
			}
		}
	}
}
