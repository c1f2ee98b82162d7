package admin

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/explain"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestExplainsByTheGuard explains by the robots.txt and the settings of the guard of the URL.
func TestExplainsByTheGuard(t *testing.T) {
	one := policy.Key{Site: "shop.test", Host: "shop.test", Server: "1"}
	two := policy.Key{Site: "shop.test", Host: "shop.test", Server: "2"}
	file := policy.Key{Source: "/srv/robots.txt"}
	k := learn(one, two, file)
	for _, tc := range []struct {
		name string
		key  policy.Key
		path string
		want string
	}{
		{"the first server", policy.Key{Server: "1", Host: "shop.test"}, "/1", "disallowed"},
		{"which allows what the second forbids", policy.Key{Server: "1", Host: "shop.test"}, "/2", "allowed"},
		{"the second", policy.Key{Server: "2", Host: "shop.test"}, "/2", "disallowed"},
		{"a file", file, "/x", "disallowed"},
		{"another file", policy.Key{Source: "/srv/other.txt"}, "/x", "unknown"},
		{"one that was not read", policy.Key{Host: "other.test"}, "/1", "unknown"},
	} {
		k.guard = &Guard{Site: "shop.test", Registry: uaident.Default(), Settings: judge.Settings{Enforce: true}, Key: tc.key}
		status, body := k.ask(t, http.MethodPost, "/robots_guard/explain", `{"user_agent":"GPTBot/1.3","url":"http://shop.test`+tc.path+`"}`)
		var e explain.Explanation
		if err := json.Unmarshal([]byte(body), &e); status != http.StatusOK || err != nil {
			t.Fatalf("%s: %d, %v: %s", tc.name, status, err, body)
		}
		if e.Handler.Note != "" {
			t.Errorf("%s: note %q", tc.name, e.Handler.Note)
		}
		if e.Verdict != tc.want || e.Handler.Site != "shop.test" || e.Handler.Mode != "enforce" || e.Robots.Name != tc.key.String() {
			t.Errorf("%s: %s, %+v, %+v; want %s", tc.name, e.Verdict, e.Robots, e.Handler, tc.want)
		}
	}
}

// TestExplainsTheFirstOfSeveral expects a remark that another guard may judge the request.
func TestExplainsTheFirstOfSeveral(t *testing.T) {
	k := learn(policy.Key{Host: "shop.test"})
	k.guard = &Guard{Ambiguous: true, Registry: uaident.Default(), Key: policy.Key{Host: "shop.test"}}
	_, body := k.ask(t, http.MethodPost, "/robots_guard/explain", `{"user_agent":"GPTBot/1.3","url":"http://shop.test/x"}`)
	if !strings.Contains(body, explain.NoteSeveralGuards) {
		t.Errorf("%s", body)
	}
}

// TestExplainRefuses returns errors for invalid requests.
func TestExplainRefuses(t *testing.T) {
	k := learn()
	for _, tc := range []struct {
		name, method, body string
		status             int
		says               string
	}{
		{"a GET", http.MethodGet, "", http.StatusMethodNotAllowed, "use POST"},
		{"no JSON", http.MethodPost, "x", http.StatusBadRequest, "not a JSON object"},
		{"a list", http.MethodPost, "[]", http.StatusBadRequest, "the body is not a JSON object as docs/admin.md describes it: the value is of type array"},
		{"too much", http.MethodPost, strings.Repeat(" ", maxBody+1), http.StatusRequestEntityTooLarge, "more than"},
		{"an identity that is none", http.MethodPost, `{"url":"http://shop.test/","identity":"x"}`, http.StatusBadRequest, `unknown identity "x"`},
		{"a host that nobody guards", http.MethodPost, `{"url":"http://shop.test/"}`, http.StatusNotFound, `no robots_guard is configured for "shop.test"`},
	} {
		if status, body := k.ask(t, tc.method, "/robots_guard/explain", tc.body); status != tc.status || !strings.Contains(body, tc.says) {
			t.Errorf("%s: %d %s", tc.name, status, body)
		}
	}
}
