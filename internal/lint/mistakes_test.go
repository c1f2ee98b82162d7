package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestMistakes has files with mistakes that are hard to see.
func TestMistakes(t *testing.T) {
	const rule = "\nDisallow: /private/\n"
	for _, tc := range []struct {
		name, file string
		code       policy.Code // empty if no finding is expected
		line       int
		says       string
	}{
		{"two lines in one", "User-agent: * Disallow: /\n", JoinedLines, 1, `"Disallow: /" is part of the value of User-agent`},
		{"two lines in one, of a name", "User-agent: GPTBot Disallow: /\n", JoinedLines, 1, "begin a new line"},
		{"without a space", "User-agent: *Disallow: /\n", JoinedLines, 1, ""},
		{"by a semicolon", "user-agent: gptbot; disallow: /\n", JoinedLines, 1, ""},
		{"a rule and a rule", "User-agent: *\nDisallow: / Allow: /x\n", JoinedLines, 2, ""},
		{"a rule and a name", "User-agent: *\nDisallow: / User-agent: b\n", JoinedLines, 2, ""},
		{"a sitemap", "User-agent: *\nDisallow: /a\nSitemap: https://example.com/s.xml User-agent: b\n", JoinedLines, 3, ""},
		{"a missing colon", "User-agent: * Disallow /\n", JoinedLines, 1, `"Disallow /"`},
		{"a missing colon before it", "User-agent * Disallow: /\n", JoinedLines, 1, ""},
		{"a tag", "User-agent: *<br>Disallow: /\n", JoinedLines, 1, ""},
		{"an escaped line break", "User-agent: *%0ADisallow: /\n", JoinedLines, 1, ""},
		{"without anything between", "User-agent: GPTBotDisallow: /\n", JoinedLines, 1, ""},
		{"rules without anything between", "User-agent: *\nDisallow: /aDisallow: /b\n", JoinedLines, 2, ""},
		{"a key for a value", "User-agent: *\nDisallow: User-agent: GPTBot\n", JoinedLines, 2, ""},
		{"another key", "User-agent: *\nDisallow: /a Noindex: /b\n", JoinedLines, 2, ""},
		{"a key in a comment", "User-agent: * # Disallow: /" + rule, "", 0, ""},
		{"a URL in a rule", "User-agent: *\nDisallow: /go?url=https://example.com/allow:x\n", "", 0, ""},

		{"names with a bar", "User-agent: GPTBot|CCBot|ClaudeBot" + rule, policy.SeveralAgentNames, 1, "only one name"},
		{"names with spaced bars", "User-agent: GPTBot | CCBot" + rule, policy.SeveralAgentNames, 1, ""},
		{"names with a semicolon", "User-agent: GPTBot; CCBot" + rule, policy.SeveralAgentNames, 1, ""},
		{"names with a slash", "User-agent: GPTBot/CCBot" + rule, policy.SeveralAgentNames, 1, ""},
		{"names with an ampersand", "User-agent: GPTBot&CCBot" + rule, policy.SeveralAgentNames, 1, ""},
		{"names with a plus", "User-agent: GPTBot+CCBot" + rule, policy.SeveralAgentNames, 1, ""},
		{"a version", "User-agent: Googlebot/2.1" + rule, "", 0, ""},
		{"a whole User-Agent", "User-agent: Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)" + rule, "", 0, ""},
		{"names with a comma", "User-agent: GPTBot, CCBot" + rule, policy.SeveralAgentNames, 1, ""},

		{"a hyphen", "User-agent: Claude\u2010SearchBot" + rule, LookAlikeCharacters, 1, `write "Claude-SearchBot"`},
		{"a non-breaking hyphen", "User-agent: Claude\u2011SearchBot" + rule, LookAlikeCharacters, 1, ""},
		{"a dash", "User-agent: Claude\u2013SearchBot" + rule, LookAlikeCharacters, 1, ""},
		{"a minus", "User-agent: Claude\u2212SearchBot" + rule, LookAlikeCharacters, 1, ""},
		{"a soft hyphen", "User-agent: GPT\u00adBot" + rule, LookAlikeCharacters, 1, `write "GPTBot"`},
		{"a zero-width space", "User-agent: GPTBot\u200b" + rule, LookAlikeCharacters, 1, ""},
		{"a non-breaking space", "User-agent: Yandex\u00a0Bot" + rule, LookAlikeCharacters, 1, ""},
		{"a non-breaking space at the end", "User-agent: GPTBot\u00a0" + rule, LookAlikeCharacters, 1, `write "GPTBot"`},
		{"a non-breaking space before a star", "User-agent: \u00a0*" + rule, LookAlikeCharacters, 1, `write "*"`},
		{"curly quotes", "User-agent: \u201cGPTBot\u201d" + rule, LookAlikeCharacters, 1, `write "GPTBot"`},
		{"single curly quotes", "User-agent: \u2018GPTBot\u2019" + rule, LookAlikeCharacters, 1, `write "GPTBot"`},
		{"guillemets", "User-agent: \u00abGPTBot\u00bb" + rule, LookAlikeCharacters, 1, `write "GPTBot"`},
		{"a curly apostrophe", "User-agent: Let\u2019s Encrypt validation server" + rule, LookAlikeCharacters, 1, `write "Let's Encrypt validation server"`},
		{"full width", "User-agent: ＧＰＴＢｏｔ" + rule, LookAlikeCharacters, 1, `write "GPTBot"`},
		{"a Cyrillic letter", "User-agent: GPTB\u043et" + rule, LookAlikeCharacters, 1, ""},
		{"a Greek letter", "User-agent: GP\u03a4Bot" + rule, LookAlikeCharacters, 1, ""},
		{"a key with a hyphen", "User\u2011agent: GPTBot" + rule, LookAlikeCharacters, 1, "write User-agent"},
		{"a key with a Cyrillic letter", "User-agent: *\nDis\u0430llow: /\n", LookAlikeCharacters, 2, "write Disallow"},
		{"a star with a zero-width space", "User-agent: \u200b*" + rule, LookAlikeCharacters, 1, `write "*"`},
		{"a name of another script", "User-agent: Яндекс" + rule, "", 0, ""},

		{"an escaped slash", `User-agent: GPTBot\/1.2` + rule, RegexpInName, 1, ""},
		{"an escaped dot", `User-agent: archive\.org_bot` + rule, RegexpInName, 1, ""},
		{"any run", "User-agent: .*bot.*" + rule, RegexpInName, 1, ""},
		{"anchors", "User-agent: ^GPTBot$" + rule, RegexpInName, 1, ""},
		{"an end", "User-agent: GPTBot$" + rule, RegexpInName, 1, ""},
		{"alternatives", "User-agent: (GPTBot|CCBot)" + rule, RegexpInName, 1, ""},
		{"a flag", "User-agent: (?i)gptbot" + rule, RegexpInName, 1, ""},
		{"a class of characters", "User-agent: [Gg]PTBot" + rule, RegexpInName, 1, ""},
		{"between slashes", "User-agent: /GPTBot/i" + rule, RegexpInName, 1, ""},
		{"an optional character", "User-agent: GPT-?Bot" + rule, RegexpInName, 1, ""},
		{"a repetition", "User-agent: GPTBot{2}" + rule, RegexpInName, 1, ""},
		{"a tilde", "User-agent: ~GPTBot" + rule, RegexpInName, 1, ""},
		{"a name with a dot", "User-agent: archive.org_bot" + rule, "", 0, ""},
		{"a name with a bang", "User-agent: Yahoo! Slurp" + rule, "", 0, ""},

		{"two slashes", "User-agent: *\nDisallow: //private/\n", DoubleSlash, 2, `write "/private/"`},
		{"two slashes inside", "User-agent: *\nDisallow: /a//b?c=//\n", DoubleSlash, 2, `write "/a/b?c=//"`},
		{"two slashes behind a wildcard", "User-agent: *\nDisallow: /*//\n", DoubleSlash, 2, ""},
		{"two slashes alone", "User-agent: *\nDisallow: //\n", DoubleSlash, 2, `write "/"`},
		{"a URL in the path", "User-agent: *\nDisallow: /proxy/https://\n", "", 0, ""},
		{"a URL in the query", "User-agent: *\nDisallow: /*?u=//\n", "", 0, ""},

		{"a written line break", `User-agent: *\nDisallow: /` + "\n", EscapedLineBreak, 1, "backticks"},
		{"and a return", `User-agent: *\r\nDisallow: /` + "\n", EscapedLineBreak, 1, ""},
		{"at the end", `User-agent: *\n` + rule, EscapedLineBreak, 1, ""},
		{"at the end of a rule", "User-agent: *\nDisallow: /private/\\n\n", EscapedLineBreak, 2, ""},
		{"two of them", `User-agent: *\nDisallow: /a\n\nUser-agent: b\nDisallow: /` + "\n", EscapedLineBreak, 1, ""},
		{"before a comment", `User-agent: *\n# all` + rule, EscapedLineBreak, 1, ""},
		{"between names", "User-agent: GPTBot\\nCCBot" + rule, EscapedLineBreak, 1, ""},
		{"a written tab", "User-agent: *\nDisallow:\\t/a\n", EscapedLineBreak, 2, ""},
		{"before another key", "User-agent: *\\nContent-Signal: ai-train=no" + rule, EscapedLineBreak, 1, ""},
		{"a backslash in a path", "User-agent: *\nDisallow: /new\\new/\n", "", 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			report := Check("x", []byte(tc.file), Options{})
			ours := []policy.Code{JoinedLines, LookAlikeCharacters, RegexpInName, DoubleSlash, EscapedLineBreak, policy.SeveralAgentNames, SpaceInPath}
			var found []Finding
			for _, f := range report.Findings {
				if slices.Contains(ours, f.Code) {
					found = append(found, f)
				}
			}
			switch {
			case tc.code == "" && len(found) > 0:
				t.Errorf("found %+v", found)
			case tc.code != "" && (len(found) != 1 || found[0].Code != tc.code || found[0].Line != tc.line || !strings.Contains(found[0].Message, tc.says)):
				t.Errorf("found %+v, want %s in line %d with %q", found, tc.code, tc.line, tc.says)
			}
		})
	}
}

// TestNeverWinsNames checks that the message names the Allow rule that wins.
func TestNeverWinsNames(t *testing.T) {
	for _, tc := range []struct{ rules, says string }{
		{"Disallow: /*?\nAllow: /*\n", ""},
		{"Disallow: /a/*b\nAllow: /a/\nAllow: /a/*b\n", ""},
		{"Disallow: /*/x\nAllow: /*/*/\n", ""},
		{"Allow: /shop/\nDisallow: /shop*\n", ""},
		{"Disallow: /p/*\nAllow: /p/*\n", ""},
		{"Allow: /*/b*/\nDisallow: /*/b/\n", "disallows nothing"},
		{"Disallow: /a\nAllow: /a*z\n", ""}, // a rule may end with any letter or digit
		{"Disallow: /a\nAllow: /a*Q\nAllow: /a*~\nAllow: /a*0\n", ""},
		{"Disallow: /a*z\nAllow: /a*zz\n", ""},
		{"Disallow: /a*z\nAllow: /aq*z\n", ""},
		{"Disallow: /a*z\nAllow: /a*\n", ""},
		{"Disallow: /a*z\nAllow: /*z*\n", "disallows nothing"},
		{"Disallow: /a\nAllow: /*ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789~_!'(),;:@\nAllow: /a*Q\n", ""}, // no byte is left for the check
	} {
		var messages []string
		for _, f := range Check("x", []byte("User-agent: *\n"+tc.rules), Options{}).Findings {
			if f.Code == RuleWithoutEffect {
				messages = append(messages, f.Message)
			}
		}
		if (len(messages) > 0) != (tc.says != "") || tc.says != "" && (!strings.Contains(messages[0], tc.says) || strings.Contains(messages[0], "remove it")) {
			t.Errorf("%q: %q", tc.rules, messages)
		}
	}
}
