package managed

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/internal/admin"
)

// A crawler of each of some operators, and where it comes from.
var operators = []struct{ token, operator, address string }{
	{"GPTBot", "OpenAI", "192.0.2.1"}, {"ClaudeBot", "Anthropic", "192.0.2.2"}, {"CCBot", "Common Crawl", "192.0.2.3"},
	{"Bytespider", "ByteDance", "192.0.2.4"}, {"Amazonbot", "Amazon", "192.0.2.5"}, {"meta-externalagent", "Meta", "192.0.2.6"},
}

const (
	bing      = "192.0.2.9"
	nobody    = "203.0.113.9"
	cohortNow = "disallow * {\n/private/\n}\ndisallow ai_training {\n/models/\n}\n"
	cohortNew = cohortNow + "allow ai_training {\n/models/open/\n}\ndisallow ai_training {\n/drafts/\n}\n"
	cohortBad = cohortNew + "disallow bingbot {\n/shop/\n}\n"
)

// cohortSite is an instance that verifies crawlers by lists of addresses.
type cohortSite struct {
	*harness.Server
	t           *testing.T
	admin, name string
	storage     string
	lists       string
}

func newCohortSite(t *testing.T, storage, lists string) *cohortSite {
	s := &cohortSite{t: t, admin: harness.FreePort(t), storage: storage, lists: lists}
	s.name = harness.FreePort(t)
	s.Server = harness.Start(t, s.config(cohortNow), "127.0.0.1:"+s.name, "127.0.0.1:"+s.admin)
	s.Port = s.name
	harness.Eventually(t, "the rules are published and the lists read", func() bool {
		return strings.Contains(s.get("GPTBot", nobody, "/robots.txt").Body, "/models/") && s.get("GPTBot", operators[0].address, "/x").Header.Get("X-Identity") == "verified"
	})
	return s
}

func (s *cohortSite) config(rules string) string {
	var crawlers strings.Builder
	for _, o := range append(slices.Clone(operators), struct{ token, operator, address string }{"bingbot", "Microsoft", bing}) {
		fmt.Fprintf(&crawlers, "\t\tcrawler %s {\n\t\t\tranges file %s/%s\n\t\t}\n", o.token, s.lists, o.token)
	}
	return fmt.Sprintf(`{
	admin 127.0.0.1:%s
	persist_config off
	auto_https off
	storage file_system %s
	robots_guard {
		storage off
		verify {
			ranges configured
			rdns off
		}
%s	}
	servers {
		trusted_proxies static 127.0.0.0/8
	}
}
http://a.test:%s {
	header >X-Identity {http.robots_guard.identity}
	robots_guard enforce
	robots_txt {
		base none
		%s
	}
	respond "page {path}"
}
`, s.admin, s.storage, crawlers.String(), s.name, rules)
}

// get asks as a crawler at an address.
func (s *cohortSite) get(token, address, path string, change ...func(*http.Request)) harness.Answer {
	s.t.Helper()
	return harness.Get(s.t, s.URL(path), token+"/1.0", append(change, harness.Header("X-Forwarded-For", address))...)
}

func (s *cohortSite) load(rules string) {
	s.t.Helper()
	if _, problem, code := harness.Command(s.t, "", "reload", "--config", harness.Caddyfile(s.t, s.config(rules)), "--address", "127.0.0.1:"+s.admin); code != 0 {
		s.t.Fatalf("exit status %d: %s", code, problem)
	}
}

// changes returns what is published and tried.
func (s *cohortSite) changes() (all admin.ManagedSites) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(harness.Get(s.t, "http://127.0.0.1:"+s.admin+"/robots_guard/managed/changes", "").Body), &all); err != nil || len(all.Sites) != 1 {
		s.t.Fatalf("%v: %+v", err, all)
	}
	return all
}

// TestRolloutCrawlers serves a change to the verified crawlers of some operators first,
// and holds each to what it was served: at the instance where it has read it, at
// another one that knows of no reading, and after all are served it. Who only uses a
// name never has it, and cannot end the trial; a verified search engine does.
func TestRolloutCrawlers(t *testing.T) {
	t.Parallel()
	files := map[string]string{"bingbot": bing + "\n"}
	for _, o := range operators {
		files[o.token] = o.address + "\n"
	}
	storage, lists := t.TempDir(), harness.Files(t, files)
	one, two := newCohortSite(t, storage, lists), newCohortSite(t, storage, lists)
	outsideTag := one.get("GPTBot", nobody, "/robots.txt").Header.Get("ETag")
	const rollout = "rollout crawlers 50 1h"
	for _, s := range []*cohortSite{one, two} {
		s.load(cohortNew + rollout)
		harness.Eventually(t, "the change is tried", func() bool { return s.changes().Sites[0].Candidate != nil })
	}
	candidate := one.changes().Sites[0].Candidate
	if candidate.Stage != "crawlers" || candidate.Rollout.Percent != 50 || candidate.Until.IsZero() {
		t.Fatalf("tried is %+v", candidate)
	}
	for verb, want := range map[string]string{"show": "50% of the operators are served it, until ", "changes": "tried: crawlers (50% of the operators) until "} {
		if out, problem, code := harness.Command(t, "", "robots-guard", "managed", verb, "--address", "127.0.0.1:"+one.admin); code != 0 || !strings.Contains(out, candidate.ID) || !strings.Contains(out, want) {
			t.Errorf("%s exits with %d: %s%s", verb, code, out, problem)
		}
	}
	if metrics := harness.Get(t, "http://127.0.0.1:"+one.admin+"/metrics", "").Body; !strings.Contains(metrics, "\ncaddy_robots_guard_changes_canary_percent 50\n") {
		t.Error("the metrics do not have the percentage")
	}
	in, out := 0, 0
	for _, o := range operators {
		real, liar := one.get(o.token, o.address, "/robots.txt"), one.get(o.token, nobody, "/robots.txt")
		has := strings.Contains(real.Body, "/drafts/")
		if has != candidate.IsServed(o.operator, false, 50) || two.get(o.token, o.address, "/robots.txt").Body != real.Body {
			t.Errorf("%s is served %q", o.token, real.Body)
		}
		if strings.Contains(liar.Body, "/drafts/") || liar.Header.Get("ETag") != outsideTag || (real.Header.Get("ETag") == outsideTag) == has {
			t.Errorf("who says to be %s is served %q", o.token, liar.Body)
		}
		for _, a := range []harness.Answer{real, liar} {
			if a.Header.Get("Cache-Control") != "private, max-age=3600" || a.Header.Get("Last-Modified") != "" {
				t.Errorf("%s: %q", o.token, a.Header)
			}
		}
		if again := one.get(o.token, nobody, "/robots.txt", harness.Header("If-None-Match", real.Header.Get("ETag"))); (again.Status == http.StatusNotModified) == has {
			t.Errorf("by the tag of %s somebody else is answered %d", o.token, again.Status)
		}
		opens, drafts := http.StatusForbidden, http.StatusOK
		if has {
			opens, drafts = http.StatusOK, http.StatusForbidden
			in++
		} else {
			out++
		}
		for path, want := range map[string]int{"/models/open/1": opens, "/drafts/1": drafts, "/models/1": http.StatusForbidden, "/private/x": http.StatusForbidden} {
			if got := one.get(o.token, o.address, path).Status; got != want {
				t.Errorf("%s at %s is answered %d, want %d", o.token, path, got, want)
			}
		}
		for _, path := range []string{"/models/open/1", "/models/1", "/private/x"} {
			if got := one.get(o.token, nobody, path).Status; got != http.StatusForbidden {
				t.Errorf("who says to be %s at %s is answered %d", o.token, path, got)
			}
		}
	}
	if in == 0 || out == 0 {
		t.Fatalf("%d are served the change, and %d are not", in, out)
	}
	t.Run("an instance that knows of no reading", func(t *testing.T) {
		three := newCohortSite(t, storage, lists)
		three.load(cohortNew + rollout)
		harness.Eventually(t, "the change is tried", func() bool { return three.changes().Sites[0].Candidate != nil })
		for _, o := range operators {
			want := http.StatusForbidden
			if candidate.IsServed(o.operator, false, 50) {
				want = http.StatusOK
			}
			if got := three.get(o.token, o.address, "/models/open/1").Status; got != want {
				t.Errorf("%s is answered %d, want %d", o.token, got, want)
			}
			if got := three.get(o.token, nobody, "/models/open/1").Status; got != http.StatusForbidden {
				t.Errorf("who says to be %s is answered %d", o.token, got)
			}
		}
	})
	if _, problem, code := harness.Command(t, "", "robots-guard", "managed", "promote", "--address", "127.0.0.1:"+one.admin, "--why", "it is good"); code != 0 {
		t.Fatalf("exit status %d: %s", code, problem)
	}
	for _, o := range operators {
		path := "/drafts/1" // which it has not been told about
		if candidate.IsServed(o.operator, false, 50) {
			path = "/models/open/1"
		}
		if got := one.get(o.token, o.address, path).Status; got != http.StatusOK {
			t.Errorf("after the promotion %s is answered %d for %s", o.token, got, path)
		}
		if a := one.get(o.token, o.address, "/robots.txt"); !strings.Contains(a.Body, "/drafts/") || a.Header.Get("Cache-Control") != "max-age=3600" {
			t.Errorf("after the promotion %s is served %q, %q", o.token, a.Header, a.Body)
		}
	}
	one.load(cohortBad + rollout)
	harness.Eventually(t, "the next change is tried", func() bool { return one.changes().Sites[0].Candidate != nil })
	const ended = "the trial of a change of a robots_txt has ended by itself"
	harness.Eventually(t, "the trial ends", func() bool { // once the text that is tried has been read
		for _, page := range []string{"/shop/1", "/shop/2"} {
			if got := one.get("bingbot", bing, page).Status; got != http.StatusOK {
				t.Errorf("bingbot is answered %d", got)
			}
		}
		return len(one.Lines(ended)) > 0
	})
	lines := one.Await(ended, 1)
	if why, _ := lines[0]["why"].(string); !strings.HasPrefix(why, "bingbot (verified) would not be allowed /shop/") {
		t.Errorf("it says %v", lines[0])
	}
	if text := one.get("bingbot", bing, "/robots.txt").Body; strings.Contains(text, "/shop/") {
		t.Errorf("afterwards is served %q", text)
	}
}

// TestRolloutCrawlersRefused refuses what cannot tell crawlers from each other.
func TestRolloutCrawlersRefused(t *testing.T) {
	t.Parallel()
	const verify, text = "{\nrobots_guard {\nverify {\nrdns on\nranges off\n}\n}\n}\n", "robots_txt {\ndisallow GPTBot\nrollout crawlers 10\n}\n"
	for config, says := range map[string]string{
		verify + "http://a.test {\nrobots_guard\n" + text + "}\n":                                                    "",
		verify + "http://a.test {\nhandle {\nrobots_guard\n" + text + "}\n}\n":                                       "",
		"http://a.test {\nrobots_guard\n" + text + "}\n":                                                             "write verify on into the global option robots_guard",
		"{\nrobots_guard {\nverify {\nrdns off\nranges off\n}\n}\n}\nhttp://a.test {\nrobots_guard\n" + text + "}\n": "write verify on into the global option robots_guard",
		verify + "http://a.test {\n" + text + "}\n":                                                                  "at site a.test requests come to robots_txt that have not come through a robots_guard",
		verify + "http://a.test {\nrobots_guard /x*\n" + text + "}\n":                                                "at site a.test requests come to robots_txt that have not come through a robots_guard",
		verify + "(m) {\n" + text + "}\nhttp://a.test {\nrobots_guard\nimport m\n}\nhttp://b.test {\nimport m\n}\n":  "at site b.test requests come to robots_txt that have not come through a robots_guard",
		verify + "&(m) {\nroute {\nrobots_guard\n" + text + "}\n}\nhttp://a.test {\ninvoke m\n}\n":                   "stands in routes that cannot be looked at",
		verify + "http://a.test {\nrobots_guard\nrobots_txt {\ndisallow GPTBot\nrollout crawlers 10 5s\n}\n}\n":      "rollout crawlers 5s cannot be; use a time from 1m to 30d, at",
		verify + "http://a.test {\nrobots_guard\nrobots_txt {\ndisallow GPTBot\nrollout crawlers 0\n}\n}\n":          "rollout crawlers 0 cannot be; use a percentage of the operators from 1 to 100, at",
	} {
		_, stderr, code := harness.Command(t, "", "validate", "--config", harness.Caddyfile(t, config))
		if (code != 0) != (says != "") || !strings.Contains(stderr, says) {
			t.Errorf("%s: exit %d, %s", config, code, stderr)
		}
	}
}

// TestRolloutShadowRefused refuses a trial in which nothing would be judged, so that the
// change would be published untried.
func TestRolloutShadowRefused(t *testing.T) {
	t.Parallel()
	const text = "robots_txt {\ndisallow GPTBot\nrollout shadow 1h\n}\n"
	for config, says := range map[string]string{
		"http://a.test {\nrobots_guard\n" + text + "}\n":                                                                   "",
		"http://a.test {\nrobots_guard /x*\n" + text + "}\n":                                                               "",
		"http://*.a.test {\nrobots_guard\n" + text + "}\n":                                                                 "",
		"http://a.test {\nroute {\n" + text + "robots_guard\n}\n}\n":                                                       "",
		"http://a.test, http://b.test {\nrobots_guard\n@b host b.test\n" + strings.Replace(text, " {", " @b {", 1) + "}\n": "",
		"http://a.test {\n" + text + "}\n":                                                                                 "rollout shadow: at site a.test nothing would be tried before it is published: no robots_guard judges the requests there; add one",
		"http://a.test {\n" + text + "}\nhttp://b.test {\nrobots_guard\n}\n":                                               "at site a.test nothing would be tried",
		"(m) {\n" + text + "}\nhttp://a.test {\nrobots_guard\nimport m\n}\nhttp://b.test {\nimport m\n}\n":                 "at site b.test nothing would be tried",
		"http://a.test {\nrobots_guard {\nshadow https://a.test/next.txt\n}\n" + text + "}\n":                              "tries the text of its option shadow; remove that",
		"http://a.test {\nrobots_guard {\nsource https://a.test/r.txt\n}\n" + text + "}\n":                                 "goes by its option source; remove that",
	} {
		_, stderr, code := harness.Command(t, "", "validate", "--config", harness.Caddyfile(t, config))
		if (code != 0) != (says != "") || !strings.Contains(stderr, says) {
			t.Errorf("%s: exit %d, %s", config, code, stderr)
		}
	}
}
