package policy

import "testing"

// TestNameMatches checks RFC 9309 section 2.2.1, Google's section on user agents, and the token
// rule of this package.
func TestNameMatches(t *testing.T) {
	tests := []struct {
		name, token string
		want        bool
	}{
		{"Googlebot", "Googlebot", true},
		{"googlebot", "Googlebot", true}, // RFC: case is ignored
		{"GOOGLEBOT", "googlebot", true},
		{"Googlebot/2.1", "Googlebot", true}, // Google: the version is ignored
		{"Googlebot*", "Googlebot", true},    // Google: a final star is ignored
		{"Googlebot Images", "Googlebot", true},
		{"Googlebot, Bingbot", "Googlebot", true},
		{"Googlebot, Bingbot", "Bingbot", false},
		{"Googlebot-Image", "Googlebot", false}, // another product
		{"Googlebot", "Googlebot-Image", false}, // the caller passes fallbacks
		{"Google", "Googlebot", false},
		{"Googlebots", "Googlebot", false},
		{"Googlebot_", "Googlebot", false},
		{"Googlebot.x", "Googlebot", false},
		{"Googlebot2", "Googlebot", false},
		{"xGooglebot", "Googlebot", false},
		{"Mozilla/5.0 (compatible; Googlebot/2.1)", "Googlebot", false}, // RFC: the name must be at the start

		// Tokens beyond the RFC's letters, "_" and "-".
		{"MJ12bot", "MJ12bot", true},
		{"MJ12bot", "MJ", false},
		{"AB42bot", "AB", false},
		{"360Spider", "360Spider", true},
		{"archive.org_bot", "archive.org_bot", true},
		{"archive.org_bot", "archive", false},
		{"Yahoo! Slurp", "Yahoo! Slurp", true},
		{"Yahoo! Slurp/3", "Yahoo! Slurp", true},
		{"Sogou web spider", "Sogou web spider", true},
		{"Sogou web spiders", "Sogou web spider", false},
		{"Sogou web spider", "Sogou", true},
		{"ABa", "AB", false}, {"ABz", "AB", false}, {"ABA", "AB", false}, {"ABZ", "AB", false}, {"AB0", "AB", false}, {"AB9", "AB", false},
		{"AB@", "AB", true}, {"AB[", "AB", true}, {"AB`", "AB", true}, {"AB{", "AB", true}, {"AB:", "AB", true}, // beside these
		{"botÉ", "bot", true}, // ends at a byte that cannot be part of a token
		{"\u212aelvin", "Kelvin", false},
		{"bot\u00c9", "bot\u00e9", false}, {"bot[", "bot{", false}, {"bot@", "bot`", false}, {"bot_x", "bot\x7fx", false}, // only ASCII letters have a case

		// The global group and similar names.
		{"*", "Googlebot", false},
		{"*", "*", false},
		{"*", "", false},
		{"*bot", "Googlebot", false},
		{"*bot", "*bot", false},
		{"*/x", "*", false},
		{"* Googlebot", "Googlebot", false},
		{"", "Googlebot", false},
		{"", "", false},
		{"!x", "", false},
	}
	for _, test := range tests {
		if got := NameMatches(test.name, test.token); got != test.want {
			t.Errorf("NameMatches(%q, %q) = %t, want %t", test.name, test.token, got, test.want)
		}
		// Select and Named use another lookup.
		r := Parse([]byte("User-agent: " + test.name + "\nDisallow: /\n"))
		if got := r.NamesToken(test.token); got != test.want {
			t.Errorf("%q names %q: %t, want %t", test.name, test.token, got, test.want)
		}
		if got := r.Select(false, test.token) != nil; got != test.want {
			t.Errorf("%q selects %q: %t, want %t", test.name, test.token, got, test.want)
		}
	}
}
