package judge

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// A group that is for somebody with a longer name is not for an app which begins with the
// same word, and of which nothing else is known.
func TestGroupOfALongerName(t *testing.T) {
	const (
		gold  = "Gold/120.1 (iPhone; CPU iPhone OS 17_2_1 like Mac OS X)"
		yahoo = "Yahoo%20Mail/49268 CFNetwork/1121.2.2 Darwin/19.3.0"
		bot   = "AcmeBot/1.0 (+https://acme.example/bot)"
	)
	for _, tt := range []struct {
		group, userAgent string
		named            bool
	}{
		{"gold crawler", gold, false},
		{"Gold::Fetch", gold, false},
		{"Yahoo! Slurp", yahoo, false},
		{"Yahoo Pipes 1.0", yahoo, false},
		{"Microsoft URL Control", "microsoft;xbox_one;1fc2;;tpapi;3.167.55", false},
		{"http://www.acme.example/crawler", "HTTP/1.1 AcmePhone/R4CJ", false},
		{"Gold Été", gold, false},
		{"Gold'n Fetch", gold, false},
		{"Gold&Co", gold, false},
		{"Gold+Fetch", gold, false},
		{"Gold%20Fetch", gold, false},
		{"Gold@home", gold, false},
		{"Gold~Fetch", gold, false},
		// The same name, with what belongs to no name.
		{"Gold", gold, true},
		{"GOLD*", gold, true},
		{"Gold/1", gold, true},
		{"Gold/v2.0", gold, true},
		{"Gold 120", gold, true},
		{"Gold (app)", gold, true},
		{"Gold, Silver", gold, true},
		// An app whose name the library of the phone escapes is called by all of it.
		{"Yahoo", yahoo, false},
		{"Acme", "Acme%20Mail/5 CFNetwork/1121.2.2 Darwin/19.3.0", false},
		{"Yahoo%20Mail", yahoo, true},
		{"Acme%20Mail", "Acme%20Mail/5 CFNetwork/1121.2.2 Darwin/19.3.0", true},
		{"Yahoo", "Yahoo/5 CFNetwork/1121.2.2 Darwin/19.3.0", true},
		{"AcmeBot", "AcmeBot%20Images/1.0", true},
		{"GPTBot", "GPTBot%20Images/1.0 CFNetwork/1121.2.2 Darwin/19.3.0", true},
		// The whole name is in the User-Agent.
		{"Gold Digger", "Gold Digger/1.0 (iPhone; iOS 17.0)", true},
		// Robots are called by the word that their name begins with.
		{"AcmeBot Images", bot, true},
		{"Googlebot Images", "Googlebot/2.1 (+http://www.google.com/bot.html)", true},
	} {
		robots := policy.Parse([]byte("User-agent: " + tt.group + "\nDisallow: /\n"))
		client := uaident.Default().IdentifyWithOverlay(tt.userAgent, uaident.Default().NewOverlay(robots.GroupNames()))
		r := Request{Client: client, Method: "GET", Target: "/a"}
		if _, named, _ := r.GroupQuery(nil, false).Group(robots); named != tt.named {
			t.Errorf("the group %q names %q: %v, want %v", tt.group, tt.userAgent, named, tt.named)
		}
	}
}

// Who is not meant by such a group is judged by * where that is for all.
func TestGroupOfALongerNameBesideAll(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: Gold Crawler\nDisallow: /\n\nUser-agent: *\nDisallow: /private/\n"))
	client := uaident.Default().IdentifyWithOverlay("Gold/120.1 (iPhone; CPU iPhone OS 17_2_1 like Mac OS X)", nil)
	r := Request{Client: client, Method: "GET", Target: "/private/a"}
	group, named, applies := r.GroupQuery(nil, true).Group(robots)
	if group == nil || group.FirstAgent().Name != "*" || named || !applies {
		t.Errorf("with * for it: %q, named %v, applies %v", group.FirstAgent().Name, named, applies)
	}
	if _, named, applies := r.GroupQuery(nil, false).Group(robots); named || applies {
		t.Errorf("with * not for it: named %v, applies %v", named, applies)
	}
	if NamesClient(robots, client, client.Token) || !NamesClient(robots, uaident.Default().Identify("Googlebot/2.1"), "Gold") {
		t.Error("explain says otherwise")
	}
}
