package judge

import (
	"slices"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestIsAgainst holds what is stated about uses against what a class fetches for.
func TestIsAgainst(t *testing.T) {
	var no, yes policy.Preferences
	no[policy.TrainAI], no[policy.AIUse], no[policy.SearchUse] = policy.PreferenceNo, policy.PreferenceNo, policy.PreferenceNo
	yes[policy.TrainAI], yes[policy.AIUse], yes[policy.SearchUse] = policy.PreferenceYes, policy.PreferenceYes, policy.PreferenceYes
	for class, want := range map[uaident.Class]bool{
		uaident.AITraining: true, uaident.AISearch: true, uaident.AIAssistant: true, uaident.Search: true,
		uaident.SEO: false, uaident.Library: false, uaident.Browser: false,
	} {
		if got := OpposesUse(no, class); got != want {
			t.Errorf("%s, where all is refused: %t, want %t", class, got, want)
		}
		if OpposesUse(yes, class) || OpposesUse(policy.Preferences{}, class) {
			t.Errorf("%s, where nothing is refused: true", class)
		}
	}
	only := policy.Preferences{policy.TrainAI: policy.PreferenceNo}
	if !OpposesUse(only, uaident.AITraining) || OpposesUse(only, uaident.Search) {
		t.Error("one use is taken for another")
	}
}

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
	everybody := ClassSet(0)
	for _, class := range uaident.Classes() {
		everybody |= 1 << class
	}
	lists := []func(s *Settings){
		func(*Settings) {},
		func(s *Settings) { s.EnforceOnly = some },
		func(s *Settings) { s.OnlyLog = ClientSet{verified: selector("search"), claimed: selector("ai_search")} },
		func(s *Settings) { s.OnlyLog = ClientSet{claimed: selector("ai_training")} },
		func(s *Settings) { s.Exempt = ClientSet{claimed: selector("ClaudeBot"), verified: selector("search")} },
		func(s *Settings) { s.Exempt = ClientSet{verified: some} },
	}
	for _, enforce := range []bool{false, true} {
		for _, keepSlashes := range []bool{false, true} {
			for _, falseName := range []SpoofedHandling{JudgeSpoofed, BlockSpoofed, LogSpoofed} {
				for _, wildcard := range []ClassSet{0, 1<<uaident.Search | 1<<uaident.AITraining | 1<<uaident.Library, everybody} {
					for _, list := range lists {
						s := Settings{Enforce: enforce, KeepSlashes: keepSlashes, SpoofedHandling: falseName, WildcardClasses: wildcard}
						list(&s)
						all = append(all, s)
					}
				}
			}
		}
	}
	return all
}

// TestPreferencesBlockNobody judges all crawlers of the registry by a file that wants
// none of the uses and by the same file without that: nothing becomes of a request
// because of a preference. Googlebot, bingbot and Applebot are tried under every
// configuration, also where the owner puts them into another class and says that they
// only train.
func TestPreferencesBlockNobody(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /private/\n"
	const never = "Content-Usage: train-ai=n, ai-use=n, search=n\nContent-Usage: /page train-ai=n, ai-use=n, search=n\nContent-Signal: search=no, ai-input=no, ai-train=no\n"
	plain, stating := policy.Parse([]byte(rules)), policy.Parse([]byte(rules+never))
	settings := manySettings(t)
	judge := func(client uaident.Identity, identity verify.State, s *Settings, target string) {
		q := Request{Client: client, Verification: identity, Target: target}
		var scratch Scratch
		var with, without Result
		s.Judge(&q, Rules{Robots: stating}, &scratch, &with)
		s.Judge(&q, Rules{Robots: plain}, &scratch, &without)
		if with.Verdict != without.Verdict || with.Action != without.Action {
			t.Fatalf("%s (%v) for %s under %+v: %v and %v, without preferences %v and %v",
				client.Name(), identity, target, s, with.Verdict, with.Action, without.Verdict, without.Action)
		}
	}
	special := []string{"Googlebot", "bingbot", "Applebot"}
	for i, crawler := range uaident.Default().Crawlers() {
		client := uaident.Default().Identify(crawler.Token + "/1.0")
		isSpecial := slices.Contains(special, crawler.Token) || crawler.Purposes.Set != 0
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
			crawler.Class, crawler.Purposes = class, uaident.Purposes{Set: uaident.PurposeTraining, Source: "https://example.com/"}
			if class == uaident.Browser {
				continue
			}
			registry, err := uaident.Default().WithCrawlers(crawler)
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
}
