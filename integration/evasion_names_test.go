package integration

import (
	"strings"
	"testing"
)

// TestEvasionNames spells a forbidden name in every way that we know of. A name
// that stands whole in what the client sends is found, in whatever company. What
// else there is, no server can tell from an honest client of another name; these
// rows say what becomes of it: the group of all crawlers where it still looks
// like one of them, and nothing where it does not.
func TestEvasionNames(t *testing.T) {
	t.Parallel()
	s := serve(t, `http://a.test:$PORT {
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
	s.warm("/")
	const (
		forbidden = 403 // on /page, which only the name's own group forbids
		crawler   = 1   // judged by the group of all crawlers
		nobody    = 2   // a browser, or nobody that a group is meant for
	)
	words := strings.Repeat("x1 y2 ", 20)
	for _, tc := range []struct {
		name   string
		fields string // header fields
		want   int
	}{
		// What is found.
		{"plain", "User-Agent: GPTBot/1.3", forbidden},
		{"alone", "User-Agent: GPTBot", forbidden},
		{"small letters", "User-Agent: gptbot/1.3", forbidden},
		{"capitals", "User-Agent: GPTBOT/1.3", forbidden},
		{"as OpenAI sends it", "User-Agent: " + gptBot, forbidden},
		{"a field name in small letters", "user-agent: GPTBot/1.3", forbidden},
		{"no space after the colon", "User-Agent:GPTBot/1.3", forbidden},
		{"much space", "User-Agent: \t  GPTBot/1.3 \t ", forbidden},
		{"a folded field", "User-Agent:\r\n GPTBot/1.3", forbidden},
		{"folded after a browser", "User-Agent: " + firefox + "\r\n\tGPTBot/1.3", forbidden},
		{"after a browser", "User-Agent: " + firefox + " GPTBot/1.3", forbidden},
		{"before a browser", "User-Agent: GPTBot/1.3 " + firefox, forbidden},
		{"in a comment", "User-Agent: " + firefox + " (GPTBot/1.3; +https://openai.com/gptbot)", forbidden},
		{"in many comments", "User-Agent: Mozilla/5.0 (((((((GPTBot/1.3)))))))", forbidden},
		{"in comments that never close", "User-Agent: Mozilla/5.0 " + strings.Repeat("(", 500) + " GPTBot/1.3", forbidden},
		{"in quotation marks", `User-Agent: "GPTBot/1.3"`, forbidden},
		{"in brackets", "User-Agent: [GPTBot/1.3]", forbidden},
		{"behind a semicolon", "User-Agent: Mozilla/5.0;GPTBot/1.3", forbidden},
		{"behind bytes that are no text", "User-Agent: \xff\xfe\xc0GPTBot/1.3\xff", forbidden},
		{"behind a byte order mark", "User-Agent: \xef\xbb\xbfGPTBot/1.3", forbidden},
		{"a long version", "User-Agent: GPTBot/" + strings.Repeat("1.", 900), forbidden},
		{"and then 10 KB", "User-Agent: GPTBot/1.3 " + strings.Repeat("x", 10_000), forbidden},
		{"after 1,900 bytes", "User-Agent: Mozilla/5.0 (" + strings.Repeat(" ", 1900) + "GPTBot/1.3)", forbidden},
		{"after 40 words", "User-Agent: Mozilla/5.0 " + words + " GPTBot/1.3", forbidden},
		{"the second field", "User-Agent: " + firefox + "\r\nUser-Agent: GPTBot/1.3", forbidden},
		{"the first of two fields", "User-Agent: GPTBot/1.3\r\nUser-Agent: " + firefox, forbidden},
		{"the last of many fields", strings.Repeat("User-Agent: Mozilla/5.0\r\n", 20) + "User-Agent: GPTBot/1.3", forbidden},
		{"after an empty field", "User-Agent:\r\nUser-Agent: GPTBot/1.3", forbidden},
		{"after a minus", "User-Agent: -\r\nUser-Agent: GPTBot/1.3", forbidden},
		{"a name that only the robots.txt knows", "User-Agent: FooFetch/1.0", forbidden},
		{"that name after a browser", "User-Agent: " + firefox + " FooFetch/1.0", forbidden},
		{"that name in the second field", "User-Agent: " + firefox + "\r\nUser-Agent: FooFetch/1.0", forbidden},

		// What is another name.
		{"a longer name", "User-Agent: GPTBot2/1.3", crawler},
		{"a name with a hyphen", "User-Agent: GPTBot-Next/1.3", crawler},
		{"split over two fields", "User-Agent: GPT\r\nUser-Agent: Bot/1.3", crawler},
		{"split by a fold", "User-Agent: GPT\r\n Bot/1.3", crawler},
		{"split by a space", "User-Agent: GPT Bot/1.3", crawler},
		{"spelled out", "User-Agent: G P T B o t/1.3", nobody},
		{"escaped", "User-Agent: %47PTBot/1.3", crawler},
		{"a Cyrillic letter", "User-Agent: G\xd0\xa0TBot/1.3", crawler},
		{"full-width letters", "User-Agent: \xef\xbc\xa7\xef\xbc\xb0\xef\xbc\xb4\xef\xbc\xa2ot/1.3", nobody},
		{"a zero-width space", "User-Agent: GPT\xe2\x80\x8bBot/1.3", crawler},
		{"a soft hyphen", "User-Agent: GPT\xc2\xadBot/1.3", crawler},
		{"leet", "User-Agent: GPTB0t/1.3", nobody},
		{"reversed", "User-Agent: toBTPG/1.3", nobody},
		{"after 2,048 bytes", "User-Agent: Mozilla/5.0 (" + strings.Repeat(" ", 2048) + "GPTBot/1.3)", nobody},
		{"after 48 words", "User-Agent: Mozilla/5.0 " + words + words + " GPTBot/1.3", nobody},
		{"like it", "User-Agent: Mozilla/5.0 (like GPTBot/1.3)", nobody},
		{"another field", "X-User-Agent: GPTBot/1.3\r\nUser-Agent: " + firefox, nobody},
		{"a field with an underscore", "User_Agent: GPTBot/1.3\r\nUser-Agent: " + firefox, nobody},
		{"a browser's name", "User-Agent: " + firefox, nobody},
		{"no name", "Accept: */*", nobody},
	} {
		status := func(path string) int {
			code, _ := raw(t, s, "GET "+path+" HTTP/1.1\r\nHost: a.test:"+s.port+"\r\n"+tc.fields+"\r\nConnection: close\r\n\r\n")
			return code
		}
		got := nobody
		if status("/page") == 403 {
			got = forbidden
		} else if status("/private/x") == 403 {
			got = crawler
		}
		if got != tc.want {
			t.Errorf("%s: got %d, want %d", tc.name, got, tc.want)
		}
	}
	if status, _ := raw(t, s, "GET /page HTTP/1.1\r\nHost: a.test:"+s.port+"\r\nUser-Agent : GPTBot/1.3\r\nConnection: close\r\n\r\n"); status != 400 {
		t.Errorf("a space before the colon: got %d", status)
	}
}
