package evasion

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// Results in TestEvasionNames.
const (
	isGPTBot = 403 // identified as GPTBot: gets 403 for /page, which only that group disallows
	crawler  = 1   // the * group applies
	passes   = 2   // a browser, or a client to which no group applies
	refused  = 400 // invalid HTTP
)

// Reasons why a name is not found.
const (
	otherName = "the name differs, like the name of any new crawler"
	otherText = "the sent text does not contain the name, so no group of a robots.txt can name it"
	mentioned = "the client mentions the crawler or claims compatibility with it, as browsers do, but does not claim its name"
	notAField = "only the field User-Agent names a client"

	bounded    = "the guard reads a bounded part of a User-Agent, and honest crawlers send their name within that part"
	undeclared = "the client sends no name or the name of a browser; robots.txt is for clients that send their name"
)

// nameTrick is a way to send a disallowed name.
type nameTrick struct {
	name   string
	fields string // header fields
	want   int    // expected result
	why    string // why the request may pass; "" if the name is found
}

// placedNames returns tricks that surround the complete name with other text.
func placedNames() (tricks []nameTrick) {
	add := func(name, fields string) { tricks = append(tricks, nameTrick{name, fields, isGPTBot, ""}) }
	for _, around := range []struct{ before, after string }{
		{"(", ")"}, {"{", "}"}, {"<", ">"}, {"[", "]"}, {"'", "'"}, {"`", "`"}, {`"`, `"`}, {`\"`, `\"`}, {"\u00ab", "\u00bb"}, {"\u201c", "\u201d"},
		{"*", "*"}, {"|", "|"}, {"=", "="}, {"&", "&"}, {"/", "/"}, {`\`, `\`}, {"~", "~"}, {"^", "^"}, {"$", "$"}, {"#", "#"}, {"?", "?"}, {"+", "+"},
		{":", ":"}, {",", ","}, {";", ";"}, {".", "."}, {"\t", "\t"}, {"\u00a0", "\u00a0"}, {"\u3000", "\u3000"}, {"\u200b", "\u200b"}, {"\u00ad", "\u00ad"},
		{"\u202e", "\u202c"}, {"\U0001f916", "\U0001f916"}, {"\x80\xfe", "\xff"}, {"\xef\xbb\xbf", ""}, {"<b>", "</b>"}, {"a/", "/b"}, {"[(<{", "}>)]"}, {`"`, ""}, {"(", ""}, {")", "("},
	} {
		add("in "+around.before, "User-Agent: "+around.before+"GPTBot"+around.after)
		add("in "+around.before+" behind a browser", "User-Agent: "+harness.Firefox+" "+around.before+"GPTBot/1.3"+around.after)
	}
	for _, version := range []string{"/", "/1", "/1.3.", "/v1", "/1.3-beta", "/x", "/1.3/4", "//1.3", "/ 1.3", " /1.3", "/1.3(x)", "/1.3;x", "/\u0661", "/%31", "/latest", "/-1", " 1.3", "(1.3)", ";1.3", ":1.3", "=1.3", ",1.3", "@1.3", "#1.3", "+1.3"} {
		add("a version "+version, "User-Agent: GPTBot"+version)
	}
	return tricks
}

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
		{"as OpenAI sends it", "User-Agent: " + harness.GPTBot, isGPTBot, ""},
		{"a name in other letters", "User-Agent: gPTbOT/1.3", isGPTBot, ""},
		{"a field name in lower case", "user-agent: GPTBot/1.3", isGPTBot, ""},
		{"a field name in other letters", "uSeR-aGeNt: GPTBot/1.3", isGPTBot, ""},
		{"both spellings of the field", "user-agent: " + harness.Firefox + "\r\nUSER-AGENT: GPTBot/1.3", isGPTBot, ""},
		{"no space after the colon", "User-Agent:GPTBot/1.3", isGPTBot, ""},
		{"much space", "User-Agent: \t  GPTBot/1.3 \t ", isGPTBot, ""},
		{"a folded field", "User-Agent:\r\n GPTBot/1.3", isGPTBot, ""},
		{"folded after a browser", "User-Agent: " + harness.Firefox + "\r\n\tGPTBot/1.3", isGPTBot, ""},
		{"folded twice", "User-Agent: Mozilla/5.0\r\n \r\n\tGPTBot/1.3", isGPTBot, ""},
		{"folded with a line feed alone", "User-Agent: Mozilla/5.0\n GPTBot/1.3", isGPTBot, ""},
		{"after a browser", "User-Agent: " + harness.Firefox + " GPTBot/1.3", isGPTBot, ""},
		{"before a browser", "User-Agent: GPTBot/1.3 " + harness.Firefox, isGPTBot, ""},
		{"in a comment", "User-Agent: " + harness.Firefox + " (GPTBot/1.3; +https://openai.com/gptbot)", isGPTBot, ""},
		{"in many comments", "User-Agent: Mozilla/5.0 (((((((GPTBot/1.3)))))))", isGPTBot, ""},
		{"in comments that never close", "User-Agent: Mozilla/5.0 " + strings.Repeat("(", 500) + " GPTBot/1.3", isGPTBot, ""},
		{"a long version", "User-Agent: GPTBot/" + strings.Repeat("1.", 900), isGPTBot, ""},
		{"and then 10 KB", "User-Agent: GPTBot/1.3 " + strings.Repeat("x", 10_000), isGPTBot, ""},
		{"after 1,900 bytes", "User-Agent: Mozilla/5.0 (" + strings.Repeat(" ", 1900) + "GPTBot/1.3)", isGPTBot, ""},
		{"after 40 words", "User-Agent: Mozilla/5.0 " + words + " GPTBot/1.3", isGPTBot, ""},
		{"the second field", "User-Agent: " + harness.Firefox + "\r\nUser-Agent: GPTBot/1.3", isGPTBot, ""},
		{"the first of two fields", "User-Agent: GPTBot/1.3\r\nUser-Agent: " + harness.Firefox, isGPTBot, ""},
		{"the last of many fields", strings.Repeat("User-Agent: Mozilla/5.0\r\n", 39) + "User-Agent: GPTBot/1.3", isGPTBot, ""},
		{"with other fields between", "User-Agent: " + harness.Firefox + "\r\nX: y\r\nAccept: */*\r\nUser-Agent: GPTBot/1.3", isGPTBot, ""},
		{"a list with commas", "User-Agent: " + harness.Firefox + ", " + harness.Chrome + ", GPTBot/1.3", isGPTBot, ""},
		{"behind a library", "User-Agent: python-requests/2.32 GPTBot/1.3", isGPTBot, ""},
		{"before a library", "User-Agent: GPTBot/1.3 python-requests/2.32", isGPTBot, ""},
		{"2,033 bytes before", "User-Agent: " + strings.Repeat(";", 2033) + "GPTBot/1.3", isGPTBot, ""},
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
		{"From", "From: GPTBot/1.3\r\nUser-Agent: " + harness.Firefox, passes, notAField},
		{"a client hint", "Sec-CH-UA: \"GPTBot\";v=\"1\"\r\nUser-Agent: " + harness.Firefox, passes, notAField},
		{"a trailer's", "Trailer: User-Agent\r\nUser-Agent: " + harness.Firefox, passes, notAField},
		{"a browser's name", "User-Agent: " + harness.Firefox, passes, undeclared},
		{"no name", "Accept: */*", passes, undeclared},
		// Invalid HTTP.
		{"a NUL in it", "User-Agent: GPT\x00Bot/1.3", refused, otherText},
		{"an escape character", "User-Agent: \x1b[8mGPTBot/1.3", refused, otherText},
		{"a delete", "User-Agent: GPTBot\x7f", refused, otherText},
		{"a carriage return alone", "User-Agent: " + harness.Firefox + "\rGPTBot/1.3", refused, otherText},
		{"a space before the colon", "User-Agent : GPTBot/1.3", refused, otherText},
		{"a field without a name", ": GPTBot/1.3", refused, notAField},
		{"a field with a parenthesis", "User-Agent(x): GPTBot/1.3", refused, notAField},
	}
	for _, tc := range append(tricks, placedNames()...) {
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
		if got != tc.want {
			t.Errorf("%s: got %d, want %d %s", tc.name, got, tc.want, tc.why)
		}
		if (tc.why == "") != (tc.want == isGPTBot) {
			t.Errorf("%s: the row lacks a reason", tc.name)
		}
	}
}
