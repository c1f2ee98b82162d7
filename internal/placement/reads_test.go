package placement

import (
	"strings"
	"testing"
)

// Which handlers may refuse the guard's request for /robots.txt, wherever they stand.
func TestReads(t *testing.T) {
	const (
		guard = `{"handler": "robots_guard"}`
		auth  = `{"handler": "authentication"}`
	)
	site := func(routes string) string {
		return `[{"match": [{"host": ["a"]}], "handle": [{"handler": "subroute", "routes": [` + routes + `]}], "terminal": true}]`
	}
	some := func(match, handler string) string {
		return site(`{"handle": [` + guard + `]}, {"match": [` + match + `], "handle": [` + handler + `]}`)
	}
	respond := func(match string) string { return some(match, `{"handler": "static_response", "status_code": 403}`) }
	for name, test := range map[string]struct{ routes, want string }{
		"none":                                {site(`{"handle": [` + guard + `]}`), ""},
		"before it":                           {site(`{"handle": [` + auth + `, ` + guard + `]}`), "a: basic_auth"},
		"behind it":                           {site(`{"handle": [` + guard + `, ` + auth + `]}`), "a: basic_auth"},
		"for another path":                    {some(`{"path": ["/admin/*"]}`, auth), ""},
		"for all but that path":               {some(`{"not": [{"path": ["/robots.txt"]}]}`, auth), ""},
		"for all but another path":            {some(`{"not": [{"path": ["/x"]}]}`, auth), "a: basic_auth"},
		"at another host":                     {`[{"match": [{"host": ["b"]}], "handle": [` + auth + `]}, {"match": [{"host": ["a"]}], "handle": [` + guard + `]}]`, ""},
		"at all hosts":                        {`[{"handle": [` + auth + `]}, {"match": [{"host": ["a"]}], "handle": [` + guard + `]}]`, "a: basic_auth"},
		"at a host, and the guard at all":     {`[{"match": [{"host": ["a"]}], "handle": [` + auth + `]}, {"handle": [` + guard + `]}]`, "a: basic_auth"},
		"at a host, and the guard for a path": {`[{"match": [{"host": ["a"]}], "handle": [` + auth + `]}, {"match": [{"path": ["/x"]}], "handle": [` + guard + `]}]`, "a: basic_auth"},
		"around a host's guard":               {`[{"match": [{"host": ["*.a"]}], "handle": [` + auth + `, {"handler": "subroute", "routes": [{"match": [{"host": ["x.a"]}], "handle": [` + guard + `]}]}]}]`, "x.a: basic_auth"},
		"for a host of a guard's":             {`[{"match": [{"host": ["*.a"]}], "handle": [` + guard + `, {"handler": "subroute", "routes": [{"match": [{"host": ["x.a"]}], "handle": [` + auth + `]}]}]}]`, "x.a: basic_auth"},
		"in another handle":                   {`[{"group": "g", "match": [{"path": ["/x*"]}], "handle": [` + guard + `]}, {"group": "g", "handle": [` + auth + `]}]`, "any: basic_auth"},
		"two":                                 {site(`{"handle": [{"handler": "waf"}, {"handler": "defender"}, ` + guard + `]}`), "a: coraza_waf defender"},
		"the same twice":                      {site(`{"handle": [` + auth + `, ` + guard + `, ` + auth + `]}`), "a: basic_auth"},
		"two guards":                          {site(`{"match": [{"path": ["/x"]}], "handle": [` + guard + `]}, {"handle": [` + guard + `, ` + auth + `]}`), "a: basic_auth"},
		"forward_auth":                        {some(``, `{"handler": "reverse_proxy", "rewrite": {"method": "GET", "uri": "/verify"}, "handle_response": [{}]}`), "a: forward_auth"},
		"handle_response":                     {some(``, `{"handler": "reverse_proxy", "rewrite": {"uri": "/x"}, "handle_response": [{}]}`), ""},
		"reverse_proxy":                       {some(``, `{"handler": "reverse_proxy"}`), ""},
		"respond to some addresses":           {respond(`{"remote_ip": {"ranges": ["private_ranges"]}}`), "a: respond"},
		"respond to User-Agents":              {respond(`{"header_regexp": {"User-Agent": {"pattern": "(?i)bot"}}}`), "a: respond"},
		"in one set of two":                   {respond(`{"path": ["/admin/*"]}, {"remote_ip": {"ranges": ["private_ranges"]}}`), "a: respond"},
		"for another path, in two sets":       {some(`{"path": ["/admin/*"]}, {"path": ["/private/*"]}`, auth), ""},
		"for that path, in one of two sets":   {some(`{"path": ["/admin/*"]}, {"path": ["/*.txt"]}`, auth), "a: basic_auth"},
		"respond for some paths":              {respond(`{"path_regexp": {"pattern": "x"}}`), ""},
		"respond to all":                      {respond(``), ""},
		"an error for some":                   {some(`{"expression": "x"}`, `{"handler": "error", "status_code": "403"}`), "a: error"},
		"a page for some":                     {some(`{"expression": "x"}`, `{"handler": "static_response", "status_code": 200}`), ""},
		"a redirect for some":                 {some(`{"expression": "x"}`, `{"handler": "static_response", "status_code": "{x}"}`), ""},
		"words of others":                     {some(``, `{"handler": "reverse_proxy", "rewrite": 5, "handle_response": [{}]}`), ""},
		"the source is a file":                {site(`{"handle": [` + auth + `, {"handler": "robots_guard", "source": {"file": "/x"}}]}`), ""},
		"a decision":                          {site(`{"handle": [` + auth + `, {"handler": "robots_guard", "decide": {}}]}`), ""},
		"no guard":                            {site(`{"handle": [` + auth + `, {"handler": "robots_txt"}]}`), ""},
	} {
		w := walk{server: "srv0"}
		if _, err := w.routes(routesIn(t, test.routes), way{}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range w.reads() {
			hosts := strings.Join(r.Hosts, " ")
			if hosts == "" {
				hosts = "any"
			}
			got = append(got, hosts+": "+strings.Join(r.By, " "))
		}
		if all := strings.Join(got, "; "); all != test.want {
			t.Errorf("%s: got %q, want %q", name, all, test.want)
		}
	}
}

// Behind a proxy the guard asks from an address that nobody knows yet: only where that makes
// no difference the question is asked.
func TestReadsBehindProxies(t *testing.T) {
	const (
		guard   = `{"handle": [{"handler": "robots_guard"}]}`
		auth    = `{"handler": "authentication"}`
		forward = `{"handler": "reverse_proxy", "rewrite": {"method": "GET"}, "handle_response": [{}]}`
		inside  = `{"not": [{"remote_ip": {"ranges": ["192.0.2.0/24"]}}]}`
		ours    = `{"match": [` + inside + `], "handle": [{"handler": "static_response", "status_code": 403}]}`
	)
	for name, test := range map[string]struct {
		routes string
		want   int
	}{
		"a login":                           {`[` + guard + `, {"handle": [` + auth + `, ` + forward + `]}]`, 1},
		"a login for other addresses":       {`[` + guard + `, {"match": [` + inside + `], "handle": [` + auth + `]}]`, 0},
		"proxies only":                      {`[` + ours + `, ` + guard + `]`, 0},
		"proxies only, and a login":         {`[` + ours + `, ` + guard + `, {"handle": [` + auth + `]}]`, 0},
		"proxies only, and a host's login":  {`[` + ours + `, ` + guard + `, {"match": [{"host": ["a"]}], "handle": [` + auth + `]}]`, 0},
		"a host's proxies, another's login": {`[{"match": [{"host": ["b"]}], "handle": [{"handler": "defender"}]}, ` + guard + `, {"match": [{"host": ["a"]}], "handle": [` + auth + `]}]`, 1},
		"a firewall":                        {`[` + guard + `, {"handle": [{"handler": "waf"}]}]`, 0},
	} {
		w := walk{server: "srv0"}
		if _, err := w.routes(routesIn(t, test.routes), way{}); err != nil {
			t.Fatal(err)
		}
		all := proxied(w.reads())
		if len(all) != test.want || len(all) > 0 && !all[0].Proxied {
			t.Errorf("%s: %+v", name, all)
		}
	}
}
