package admin

import (
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestParameters rejects misspelt parameters.
func TestParameters(t *testing.T) {
	k := learn(policy.Key{Site: "shop.test", Host: "shop.test"})
	for target, want := range map[string]string{ // "" for a valid request
		"summary":                                 "",
		"summary?clas=search":                     `unknown parameter "clas"; did you mean class?`,
		"summary?limit=3":                         `unknown parameter "limit"; known are site, host, class, identity, window, from, to`,
		"summary?colour=red":                      "known are site, host, class, identity, window, from, to",
		"summary?site=a.test;class=search":        "cannot be read",
		"summary?class=search&class=seo":          "class is given 2 times; remove all but one",
		"crawlers?limits=3":                       "did you mean limit?",
		"crawlers?limit=3&after=1&class=search":   "",
		"violations?limit=3&after=1&site=a.test":  "",
		"crawlers/GPTBot?windows=1h":              "did you mean window?",
		"robots?hots=shop.test":                   "did you mean host?",
		"managed?sites=a.test":                    "did you mean site?",
		"shadow?window=1h":                        "",
		"parity?identitiy=verified":               "did you mean identity?",
		"impact?Class=search":                     "did you mean class?",
		"policies?limit=1&after=a":                "",
		"policies?site=shop.test":                 `unknown parameter "site"; known are limit, after`,
		"policies/shop.test?servr=:80":            "did you mean server?",
		"policies/shop.test?server=":              "",
		"alerts?severity=critical":                `unknown parameter "severity"; /robots_guard/alerts takes none`,
		"registry?id=1":                           "takes none",
		"registry/proposals?limit=1":              "takes none",
		"managed/changes?site=shop.test":          "takes none",
		"managed/history?sit=shop.test":           "did you mean site?",
		"managed/history?from=&site=&to=":         "", // as sent by the command
		"summary?clas=&site=shop.test":            "",
		"summary?_=1795663943509":                 "", // bypasses a cache
		"managed/diff?site=shop.test&form=1&to=2": "did you mean from?",
	} {
		status, body := k.ask(t, http.MethodGet, "/robots_guard/"+target, "")
		if (status == http.StatusBadRequest) != (want != "") || !strings.Contains(body, want) {
			t.Errorf("%s: %d %.200s, want %q", target, status, body, want)
		}
	}
	for target, want := range map[string]string{
		"managed/rollback?site=shop.test":       "takes none",
		"explain?url=http://shop.test/":         "takes none",
		"alerts/a/acknowledge?note=1":           "takes none",
		"policies/shop.test/refresh?wait=1":     `unknown parameter "wait"; known is server`,
		"policies/shop.test/refresh?server=x:1": "there is no policy",
	} {
		if status, body := k.ask(t, http.MethodPost, "/robots_guard/"+target, "{}"); status < 400 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %.200s, want %q", target, status, body, want)
		}
	}
}

// TestFields rejects a body with a misspelt field.
func TestFields(t *testing.T) {
	k := learn()
	for target, body := range map[string]string{
		"explain":          `{"useragent": "GPTBot", "url": "http://shop.test/"}`,
		"managed/rollback": `{"who": "ann", "sites": "shop.test"}`,
	} {
		status, answer := k.ask(t, http.MethodPost, "/robots_guard/"+target, body)
		if status != http.StatusBadRequest || !strings.Contains(answer, `unknown field "`) || strings.Contains(answer, "json:") {
			t.Errorf("%s: %d %s", target, status, answer)
		}
	}
}
