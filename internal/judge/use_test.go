package judge

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// manySettings returns settings in all combinations that may matter to a preference.
func manySettings(t *testing.T) (all []Settings) {
	t.Helper()
	registry := uaident.Default()
	selector := func(words ...string) Selector {
		s, err := ParseSelector(registry, words, false)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	some := selector("ai_training", "search", "Googlebot", "Bingbot", "Applebot")
	everybody := Classes(0)
	for _, class := range uaident.Classes() {
		everybody |= 1 << class
	}
	lists := []func(s *Settings){
		func(*Settings) {},
		func(s *Settings) { s.EnforceOnly = some },
		func(s *Settings) { s.OnlyLog = Clients{verified: selector("search"), claimed: selector("ai_search")} },
		func(s *Settings) { s.OnlyLog = Clients{claimed: selector("ai_training")} },
		func(s *Settings) { s.Exempt = Clients{claimed: selector("ClaudeBot"), verified: selector("search")} },
		func(s *Settings) { s.Exempt = Clients{verified: some} },
	}
	for _, enforceUse := range []bool{false, true} {
		for _, enforce := range []bool{false, true} {
			for _, keepSlashes := range []bool{false, true} {
				for _, falseName := range []FalseName{JudgeFalseName, BlockFalseName, LogFalseName} {
					for _, wildcard := range []Classes{0, 1<<uaident.Search | 1<<uaident.AITraining | 1<<uaident.Library, everybody} {
						for _, list := range lists {
							s := Settings{Enforce: enforce, EnforceUse: enforceUse, KeepSlashes: keepSlashes, FalseName: falseName, Wildcard: wildcard}
							list(&s)
							all = append(all, s)
						}
					}
				}
			}
		}
	}
	return all
}

// TestPreferencesBlockNobody judges all crawlers of the registry by a file that wants
// none of the uses and by the same file without that: nothing becomes of a request
// because of a preference, and with usage enforce of nobody's but of those who only
// train models. Googlebot, bingbot and Applebot are among the others under any
// configuration, also where the owner puts them into any class and says that they only
// train.
func TestPreferencesBlockNobody(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /private/\n"
	const never = "Content-Usage: train-ai=n, ai-use=n, search=n\nContent-Usage: /page train-ai=n, ai-use=n, search=n\nContent-Signal: search=no, ai-input=no, ai-train=no\n"
	plain, stating := policy.Parse([]byte(rules)), policy.Parse([]byte(rules+never))
	settings := manySettings(t)
	held := 0
	judge := func(client uaident.Identity, identity verify.State, s *Settings, target string) {
		q := Request{Client: client, Identity: identity, Target: target}
		var scratch Scratch
		var with, without Result
		s.Judge(&q, Rules{Robots: stating}, &scratch, &with)
		s.Judge(&q, Rules{Robots: plain}, &scratch, &without)
		if with.Verdict != without.Verdict || with.Action != without.Action {
			t.Fatalf("%s (%v) for %s under %+v: %v and %v, without preferences %v and %v",
				client.Name(), identity, target, s, with.Verdict, with.Action, without.Verdict, without.Action)
		}
		against := s.AgainstUse(&q, stating, &with)
		if against == nil {
			return
		}
		held++
		s.HoldToUse(&q, &with, against)
		switch {
		case !s.EnforceUse, !slices.Contains([]string{"ClaudeBot", "MistralAI-Training"}, client.Name()), without.Verdict != Allowed, target != "/page":
			t.Fatalf("%s (%v) is held to a preference for %s under %+v", client.Name(), identity, target, s)
		case with.Action == Blocked && (!s.Enforce || s.Exempt.Has(client, identity) || s.Spares(client, identity)):
			t.Fatalf("%s (%v) is blocked for %s under %+v", client.Name(), identity, target, s)
		}
	}
	special := []string{"Googlebot", "bingbot", "Applebot"}
	for i, crawler := range uaident.Default().Crawlers() {
		client := uaident.Default().Identify(crawler.Token + "/1.0")
		isSpecial := slices.Contains(special, crawler.Token) || crawler.Purposes.Of != 0
		for identity := verify.State(0); identity <= verify.Spoofed; identity++ {
			for n := range settings {
				if !isSpecial && (n+i)%61 != 0 {
					continue // each in some of them
				}
				for _, target := range []string{"/page", "/private/x"} {
					judge(client, identity, &settings[n], target)
				}
			}
		}
	}
	for _, token := range special {
		for _, class := range uaident.Classes()[1:] {
			crawler := *uaident.Default().Lookup(token)
			crawler.Class, crawler.Purposes = class, uaident.Purposes{Of: uaident.ForTraining, Source: "https://example.com/"}
			if class == uaident.Browser {
				continue
			}
			registry, err := uaident.Default().With(crawler)
			if err != nil {
				t.Fatal(err)
			}
			client := registry.Identify(token + "/2.0")
			if client.Name() != token || client.Class != class {
				t.Fatalf("%s of class %v is taken for %s of class %v", token, class, client.Name(), client.Class)
			}
			for n := range settings {
				judge(client, verify.Verified, &settings[n], "/page")
			}
		}
	}
	if held == 0 {
		t.Error("nobody was held to a preference: has usage enforce no effect?")
	}
}

// TestAgainstUse tells when a request is against a preference that its crawler may be
// held to.
func TestAgainstUse(t *testing.T) {
	const no = "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /press/ train-ai=y\nDisallow: /private/\nSitemap: https://example.com/pages.txt\n"
	for _, tc := range []struct {
		name, robots, userAgent, method, target string
		line                                    int // of the statement, 0 for none
	}{
		{"a page", no, "ClaudeBot/1.0", "GET", "/page", 2},
		{"its head", no, "ClaudeBot/1.0", "HEAD", "/page", 2},
		{"from a log without methods", no, "ClaudeBot/1.0", "", "/page", 2},
		{"a form is not fetched", no, "ClaudeBot/1.0", "POST", "/page", 0},
		{"what is forbidden is forbidden", no, "ClaudeBot/1.0", "GET", "/private/x", 0},
		{"a longer path allows it", no, "ClaudeBot/1.0", "GET", "/press/x", 0},
		{"the robots.txt", no, "ClaudeBot/1.0", "GET", "/robots.txt", 0},
		{"in another spelling", no, "ClaudeBot/1.0", "GET", "/%72obots.txt", 0},
		{"with slashes", no, "ClaudeBot/1.0", "GET", "//robots.txt?x", 0},
		{"a sitemap by its name", no, "ClaudeBot/1.0", "GET", "/sitemap-1.xml", 0},
		{"a sitemap that the file names", no, "ClaudeBot/1.0", "GET", "/pages.txt", 0},
		{"what is well known, by a group of its own", "User-agent: ClaudeBot\nContent-Usage: train-ai=n\n", "ClaudeBot/1.0", "GET", "/.well-known/x", 0},
		{"what is well known", no, "ClaudeBot/1.0", "GET", "/.well-known/x", 0},
		{"its class alone says little", no, "Bytespider", "GET", "/page", 0},
		{"training is not all that it does", no, "GPTBot/1.2", "GET", "/page", 0},
		{"nor this", no, "meta-externalagent/1.1", "GET", "/page", 0},
		{"a search engine", no, "Googlebot/2.1", "GET", "/page", 0},
		{"nobody knows it", no, "TrainerBot/2.1", "GET", "/page", 0},
		{"a person asks for it", no, "Claude-User/1.0", "GET", "/page", 0},
		{"yes", "User-agent: *\nContent-Usage: train-ai=y\n", "ClaudeBot/1.0", "GET", "/page", 0},
		{"another use", "User-agent: *\nContent-Usage: ai-use=n, search=n\n", "ClaudeBot/1.0", "GET", "/page", 0},
		{"no dictionary", "User-agent: *\nContent-Usage: train-ai=n,\n", "ClaudeBot/1.0", "GET", "/page", 0},
		{"a signal is no Content-Usage", "User-agent: *\nContent-Signal: ai-train=no\n", "ClaudeBot/1.0", "GET", "/page", 0},
		{"both yes and no", "User-agent: *\nContent-Usage: train-ai=y\nContent-Usage: train-ai=n\n", "ClaudeBot/1.0", "GET", "/page", 3},
		{"its own group says nothing", no + "User-agent: ClaudeBot\nDisallow:\n", "ClaudeBot/1.0", "GET", "/page", 0},
		{"its own group says so", "User-agent: ClaudeBot\nContent-Usage: / train-ai=n\n", "ClaudeBot/1.0", "GET", "/page", 2},
		{"only some parsers see its group", "useragent: ClaudeBot\nContent-Usage: train-ai=n\nDisallow:\n\nUser-agent: *\nContent-Usage: train-ai=y\n", "ClaudeBot/1.0", "GET", "/page", 0},
		{"a product token stands for the crawler", no, "token ClaudeBot", "GET", "/page", 2},
		{"and for no other", no, "token GPTBot", "GET", "/page", 0},
	} {
		robots := policy.Parse([]byte(tc.robots))
		q := Request{Client: uaident.Identify(tc.userAgent), Method: tc.method, Target: tc.target}
		if token, ok := strings.CutPrefix(tc.userAgent, "token "); ok {
			q.Client, q.Token = uaident.Identity{}, token
		}
		s := Settings{Enforce: true, EnforceUse: true}
		var scratch Scratch
		var r Result
		s.Judge(&q, Rules{Robots: robots}, &scratch, &r)
		before := r
		line := 0
		if against := s.AgainstUse(&q, robots, &r); against != nil {
			line = against.Line
			s.HoldToUse(&q, &r, against)
			if text, number := r.Decided(); r.Verdict != AgainstPreference || r.Action != Blocked || number != line || text != against.String() {
				t.Errorf("%s: %v and %v by %q in line %d", tc.name, r.Verdict, r.Action, text, number)
			}
		}
		if line != tc.line {
			t.Errorf("%s: line %d, want %d (%+v)", tc.name, line, tc.line, before)
		}
		s.EnforceUse = false
		if s.AgainstUse(&q, robots, &before) != nil {
			t.Errorf("%s: held to it although nobody wants that", tc.name)
		}
	}
}

// TestHoldToUseUnderFalseName holds a client under a false name to what the name is held
// to, as for rules, and blocks it only where others are.
func TestHoldToUseUnderFalseName(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nContent-Usage: train-ai=n\n"))
	for _, tc := range []struct {
		falseName FalseName
		verdict   Verdict
		action    Action
	}{
		{JudgeFalseName, AgainstPreference, Blocked},
		{LogFalseName, AgainstPreference, Logged},
		{BlockFalseName, Allowed, Blocked}, // for its name
	} {
		q := Request{Client: uaident.Identify("ClaudeBot/1.0"), Identity: verify.Spoofed, Method: http.MethodGet, Target: "/page"}
		s := Settings{Enforce: true, EnforceUse: true, FalseName: tc.falseName}
		var scratch Scratch
		var r Result
		s.Judge(&q, Rules{Robots: robots}, &scratch, &r)
		if against := s.AgainstUse(&q, robots, &r); against != nil {
			s.HoldToUse(&q, &r, against)
		}
		if r.Verdict != tc.verdict || r.Action != tc.action {
			t.Errorf("spoofed %d: %v and %v, want %v and %v", tc.falseName, r.Verdict, r.Action, tc.verdict, tc.action)
		}
	}
}
