package evasion

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestEvasionNames spells a disallowed name in all known ways. The guard finds a name
// that the request contains completely, whatever surrounds it. A modified name cannot
// be distinguished from an honest client with a different name. For these rows the test
// states the result: the * group if the client still looks like a crawler, otherwise no
// group.
func TestEvasionNames(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard enforce
		handle /robots.txt {
			respond <<R
				User-agent: GPTBot
				User-agent: FooFetch
				Disallow: /

				User-agent: *
				Disallow: /private/
				R
		}
		handle {
			respond "page"
		}
	}`)
	s.Warm("/")
	words := strings.Repeat("x1 y2 ", 20)
	tricks := []nameTrick{
		// Names that are found.
		{"plain", "User-Agent: GPTBot/1.3", isGPTBot, ""},
		{"alone", "User-Agent: GPTBot", isGPTBot, ""},
		{"lower case", "User-Agent: gptbot/1.3", isGPTBot, ""},
		{"upper case", "User-Agent: GPTBOT/1.3", isGPTBot, ""},
		{"as OpenAI sends it", "User-Agent: " + harness.GPTBot, isGPTBot, ""},
		{"a field name in lower case", "user-agent: GPTBot/1.3", isGPTBot, ""},
		{"no space after the colon", "User-Agent:GPTBot/1.3", isGPTBot, ""},
		{"much space", "User-Agent: \t  GPTBot/1.3 \t ", isGPTBot, ""},
		{"a folded field", "User-Agent:\r\n GPTBot/1.3", isGPTBot, ""},
		{"folded after a browser", "User-Agent: " + harness.Firefox + "\r\n\tGPTBot/1.3", isGPTBot, ""},
		{"after a browser", "User-Agent: " + harness.Firefox + " GPTBot/1.3", isGPTBot, ""},
		{"before a browser", "User-Agent: GPTBot/1.3 " + harness.Firefox, isGPTBot, ""},
		{"in a comment", "User-Agent: " + harness.Firefox + " (GPTBot/1.3; +https://openai.com/gptbot)", isGPTBot, ""},
		{"in many comments", "User-Agent: Mozilla/5.0 (((((((GPTBot/1.3)))))))", isGPTBot, ""},
		{"in comments that never close", "User-Agent: Mozilla/5.0 " + strings.Repeat("(", 500) + " GPTBot/1.3", isGPTBot, ""},
		{"in quotation marks", `User-Agent: "GPTBot/1.3"`, isGPTBot, ""},
		{"in brackets", "User-Agent: [GPTBot/1.3]", isGPTBot, ""},
		{"after a semicolon", "User-Agent: Mozilla/5.0;GPTBot/1.3", isGPTBot, ""},
		{"after invalid UTF-8", "User-Agent: \xff\xfe\xc0GPTBot/1.3\xff", isGPTBot, ""},
		{"after a byte order mark", "User-Agent: \xef\xbb\xbfGPTBot/1.3", isGPTBot, ""},
		{"a long version", "User-Agent: GPTBot/" + strings.Repeat("1.", 900), isGPTBot, ""},
		{"and then 10 KB", "User-Agent: GPTBot/1.3 " + strings.Repeat("x", 10_000), isGPTBot, ""},
		{"after 1,900 bytes", "User-Agent: Mozilla/5.0 (" + strings.Repeat(" ", 1900) + "GPTBot/1.3)", isGPTBot, ""},
		{"after 40 words", "User-Agent: Mozilla/5.0 " + words + " GPTBot/1.3", isGPTBot, ""},
		{"the second field", "User-Agent: " + harness.Firefox + "\r\nUser-Agent: GPTBot/1.3", isGPTBot, ""},
		{"the first of two fields", "User-Agent: GPTBot/1.3\r\nUser-Agent: " + harness.Firefox, isGPTBot, ""},
		{"the last of many fields", strings.Repeat("User-Agent: Mozilla/5.0\r\n", 20) + "User-Agent: GPTBot/1.3", isGPTBot, ""},
		{"after an empty field", "User-Agent:\r\nUser-Agent: GPTBot/1.3", isGPTBot, ""},
		{"after a minus", "User-Agent: -\r\nUser-Agent: GPTBot/1.3", isGPTBot, ""},
		{"a name that only robots.txt contains", "User-Agent: FooFetch/1.0", isGPTBot, ""},
		{"that name after a browser", "User-Agent: " + harness.Firefox + " FooFetch/1.0", isGPTBot, ""},
		{"that name in the second field", "User-Agent: " + harness.Firefox + "\r\nUser-Agent: FooFetch/1.0", isGPTBot, ""},
		// Modified names.
		{"a longer name", "User-Agent: GPTBot2/1.3", crawler, otherName},
		{"a name with a hyphen", "User-Agent: GPTBot-Next/1.3", crawler, otherName},
		{"split over two fields", "User-Agent: GPT\r\nUser-Agent: Bot/1.3", crawler, otherName},
		{"split by a fold", "User-Agent: GPT\r\n Bot/1.3", crawler, otherName},
		{"split by a space", "User-Agent: GPT Bot/1.3", crawler, otherName},
		{"spelled out", "User-Agent: G P T B o t/1.3", passes, otherName},
		{"escaped", "User-Agent: %47PTBot/1.3", crawler, otherName},
		{"a Cyrillic letter", "User-Agent: G\xd0\xa0TBot/1.3", crawler, otherText},
		{"full-width letters", "User-Agent: \xef\xbc\xa7\xef\xbc\xb0\xef\xbc\xb4\xef\xbc\xa2ot/1.3", passes, otherText},
		{"a zero-width space", "User-Agent: GPT\xe2\x80\x8bBot/1.3", crawler, otherText},
		{"a soft hyphen", "User-Agent: GPT\xc2\xadBot/1.3", crawler, otherText},
		{"leet", "User-Agent: GPTB0t/1.3", passes, otherName},
		{"reversed", "User-Agent: toBTPG/1.3", passes, otherName},
		{"after 2,048 bytes", "User-Agent: Mozilla/5.0 (" + strings.Repeat(" ", 2048) + "GPTBot/1.3)", passes, bounded},
		{"after 48 words", "User-Agent: Mozilla/5.0 " + words + words + " GPTBot/1.3", passes, bounded},
		{"like it", "User-Agent: Mozilla/5.0 (like GPTBot/1.3)", passes, mentioned},
		{"another field", "X-User-Agent: GPTBot/1.3\r\nUser-Agent: " + harness.Firefox, passes, notAField},
		{"a field with an underscore", "User_Agent: GPTBot/1.3\r\nUser-Agent: " + harness.Firefox, passes, notAField},
		{"a browser's name", "User-Agent: " + harness.Firefox, passes, undeclared},
		{"no name", "Accept: */*", passes, undeclared},
	}
	tricks = append(append(tricks, placedNames()...), otherNames()...)
	if len(tricks) < 161 {
		t.Errorf("only %d tricks", len(tricks))
	}
	t.Logf("%d tricks", len(tricks))
	for _, tc := range tricks {
		status := func(path string) int {
			code, _ := harness.Raw(t, s, "GET "+path+" HTTP/1.1\r\nHost: a.test:"+s.Port+"\r\n"+tc.fields+"\r\nConnection: close\r\n\r\n")
			return code
		}
		got := passes
		switch page := status("/page"); {
		case page == 400:
			got = refused
		case page == 403:
			got = isGPTBot
		case status("/private/x") == 403:
			got = crawler
		}
		if got != tc.want && !(tc.want == another && (got == crawler || got == passes)) {
			t.Errorf("%s: got %d, want %d %s", tc.name, got, tc.want, tc.why)
		}
		if (tc.why == "") != (tc.want == isGPTBot) {
			t.Errorf("%s: the row lacks a reason", tc.name)
		}
	}
}
