package evasion

import (
	"fmt"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// nameTrick is a way to send a disallowed name.
type nameTrick struct {
	name   string
	fields string // header fields
	want   int    // expected result
	why    string // why the request may pass; "" if the name is found
}

// Results in TestEvasionNames.
const (
	isGPTBot = 403 // identified as GPTBot: gets 403 for /page, which only that group disallows
	crawler  = 1   // the * group applies
	passes   = 2   // a browser, or a client to which no group applies
	another  = 3   // crawler or passes: not identified as GPTBot
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

// placedNames returns tricks that surround the complete name with other text.
func placedNames() (tricks []nameTrick) {
	add := func(name, fields string) { tricks = append(tricks, nameTrick{name, fields, isGPTBot, ""}) }
	for _, around := range []struct{ name, before, after string }{
		{"parentheses", "(", ")"}, {"braces", "{", "}"}, {"angle brackets", "<", ">"}, {"apostrophes", "'", "'"}, {"backticks", "`", "`"},
		{"guillemets", "\u00ab", "\u00bb"}, {"typographic quotation marks", "\u201c", "\u201d"}, {"escaped quotation marks", `\"`, `\"`},
		{"stars", "*", "*"}, {"pipes", "|", "|"}, {"equals signs", "=", "="}, {"ampersands", "&", "&"}, {"slashes", "/", "/"}, {"backslashes", `\`, `\`},
		{"tildes", "~", "~"}, {"carets", "^", "^"}, {"dollars", "$", "$"}, {"hashes", "#", "#"}, {"question marks", "?", "?"}, {"plus signs", "+", "+"},
		{"colons", ":", ":"}, {"commas", ",", ","}, {"semicolons", ";", ";"}, {"dots", ".", "."}, {"tabs", "\t", "\t"}, {"no-break spaces", "\u00a0", "\u00a0"},
		{"ideographic spaces", "\u3000", "\u3000"}, {"zero-width spaces", "\u200b", "\u200b"}, {"soft hyphens", "\u00ad", "\u00ad"},
		{"marks that turn the text", "\u202e", "\u202c"}, {"emoji", "\U0001f916", "\U0001f916"}, {"bytes that are no text", "\x80\xfe", "\xff"},
		{"HTML", "<b>", "</b>"}, {"a path", "a/", "/b"}, {"brackets in each other", "[(<{", "}>)]"}, {"an open quotation mark", `"`, ""}, {"an open parenthesis", "(", ""},
		{"a closing parenthesis", ")", "("},
	} {
		add("in "+around.name, "User-Agent: "+around.before+"GPTBot"+around.after)
		add("in "+around.name+" behind a browser", "User-Agent: "+harness.Firefox+" "+around.before+"GPTBot/1.3"+around.after)
	}
	for _, version := range []string{"/", "/1", "/1.3.", "/v1", "/1.3-beta", "/x", "/1.3/4", "//1.3", "/ 1.3", " /1.3", "/1.3(x)", "/1.3;x", "/\u0661", "/%31", "/latest", "/-1", " 1.3", "(1.3)", ";1.3", ":1.3", "=1.3", ",1.3", "@1.3", "#1.3", "+1.3"} {
		add("a version "+version, "User-Agent: GPTBot"+version)
	}
	for _, letters := range []string{"gPTbOT", "GPtBoT", "gptBOT", "Gptbot"} {
		add(letters, "User-Agent: "+letters+"/1.3")
	}
	add("the field in capitals", "USER-AGENT: GPTBot/1.3")
	add("the field in odd letters", "uSeR-aGeNt: GPTBot/1.3")
	add("both spellings of the field", "user-agent: "+harness.Firefox+"\r\nUSER-AGENT: GPTBot/1.3")
	add("39 fields before", strings.Repeat("User-Agent: a\r\n", 39)+"User-Agent: GPTBot/1.3")
	add("with other fields between", "User-Agent: "+harness.Firefox+"\r\nX: y\r\nAccept: */*\r\nUser-Agent: GPTBot/1.3")
	add("a list with commas", "User-Agent: "+harness.Firefox+", "+harness.Chrome+", GPTBot/1.3")
	add("folded twice", "User-Agent: Mozilla/5.0\r\n \r\n\tGPTBot/1.3")
	add("folded with a line feed alone", "User-Agent: Mozilla/5.0\n GPTBot/1.3")
	add("from Mail", "User-Agent: Mozilla/5.0 (compatible; GPTBot/1.3; gptbot@openai.com)")
	add("after compatible", "User-Agent: Mozilla/4.0 (compatible;GPTBot)")
	add("at the end of a comment", "User-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64; GPTBot)")
	add("as a phone's", "User-Agent: Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36 (compatible; GPTBot/1.3; +https://openai.com/gptbot)")
	add("behind a library", "User-Agent: python-requests/2.32 GPTBot/1.3")
	add("before a library", "User-Agent: GPTBot/1.3 python-requests/2.32")
	add("a hundred times", "User-Agent: "+strings.Repeat("GPTBot ", 100))
	add("2,033 bytes before", "User-Agent: "+strings.Repeat(";", 2033)+"GPTBot/1.3")
	add("2,000 parentheses before", "User-Agent: "+strings.Repeat("(", 2000)+"GPTBot/1.3")
	return tricks
}

// otherNames returns tricks that send a modified name.
func otherNames() (tricks []nameTrick) {
	add := func(why, name, fields string) { tricks = append(tricks, nameTrick{name, fields, another, why}) }
	for i := 1; i < len("GPTBot"); i++ {
		for _, between := range []struct{ name, bytes, why string }{
			{"a space", " ", otherName}, {"a hyphen", "-", otherName}, {"an underscore", "_", otherName}, {"a dot", ".", otherName}, {"a slash", "/", otherName},
			{"a soft hyphen", "\u00ad", otherText}, {"a zero-width joiner", "\u200d", otherText}, {"a combining accent", "\u0301", otherText},
			{"a parenthesis", "(", otherName}, {"an escape", fmt.Sprintf("%%%02X", "GPTBot"[i]), otherName},
		} {
			rest := "GPTBot"[i:]
			if between.name == "an escape" {
				rest = rest[1:]
			}
			add(between.why, fmt.Sprintf("%s at %d", between.name, i), "User-Agent: "+"GPTBot"[:i]+between.bytes+rest+"/1.3")
		}
	}
	for _, look := range []struct{ name, sent string }{
		{"a Greek letter", "G\u03a1TBot"}, {"a Cherokee letter", "\u13c0PTBot"}, {"mathematical letters", "\U0001d406\U0001d40f\U0001d413\U0001d401\U0001d428\U0001d42d"},
		{"circled letters", "\u24bc\u24c5\u24c9\u24b7\u24de\u24e3"}, {"small capitals", "\u0262\u1d18\u1d1b\u0299\u1d0f\u1d1b"}, {"a dotless letter", "GPTBo\u0163"}, {"turned around", "\u202etoBTPG\u202c"},
		{"digits for letters", "GPT8ot"}, {"doubled", "GPTTBot"}, {"one letter less", "GPTBo"}, {"one letter more", "GPTBots"}, {"a prefix", "xGPTBot"}, {"a suffix of digits", "GPTBot3"},
		{"in base64", "R1BUQm90"}, {"in Punycode", "xn--gptbot"}, {"HTML entities", "&#71;&#80;&#84;&#66;&#111;&#116;"}, {"C escapes", `\x47PTBot`}, {"JavaScript escapes", `\u0047PTBot`},
		{"rotated", "TCGObg"}, {"Morse", "--. .--. - -... --- -"},
	} {
		add(otherName, look.name, "User-Agent: "+look.sent+"/1.3")
	}
	add(mentioned, "like it", "User-Agent: Mozilla/5.0 (KHTML, like GPTBot)")
	add(mentioned, "like its version", "User-Agent: "+harness.Firefox+" like GPTBot/1.3")
	add(mentioned, "in an address", "User-Agent: "+harness.Firefox+" https://gptbot.example/")
	add(mentioned, "in a mailbox", "User-Agent: "+harness.Firefox+" gptbot@example.com")
	add(notAField, "From", "From: GPTBot/1.3\r\nUser-Agent: "+harness.Firefox)
	add(notAField, "Via", "Via: 1.1 GPTBot\r\nUser-Agent: "+harness.Firefox)
	add(notAField, "a client hint", "Sec-CH-UA: \"GPTBot\";v=\"1\"\r\nUser-Agent: "+harness.Firefox)
	add(notAField, "the field of another proxy", "X-Original-User-Agent: GPTBot/1.3\r\nUser-Agent: "+harness.Firefox)
	add(notAField, "a trailer's", "Trailer: User-Agent\r\nUser-Agent: "+harness.Firefox)
	add(notAField, "in the cookie", "Cookie: User-Agent=GPTBot\r\nUser-Agent: "+harness.Firefox)
	tricks = append(tricks,
		nameTrick{"a NUL in it", "User-Agent: GPT\x00Bot/1.3", refused, otherText},
		nameTrick{"a NUL before", "User-Agent: \x00GPTBot/1.3", refused, otherText},
		nameTrick{"a NUL behind", "User-Agent: GPTBot\x00", refused, otherText},
		nameTrick{"an escape character", "User-Agent: \x1b[8mGPTBot/1.3", refused, otherText},
		nameTrick{"a backspace", "User-Agent: GPTx\x08Bot/1.3", refused, otherText},
		nameTrick{"a delete", "User-Agent: GPTBot\x7f", refused, otherText},
		nameTrick{"a carriage return alone", "User-Agent: " + harness.Firefox + "\rGPTBot/1.3", refused, otherText},
		nameTrick{"a space before the colon", "User-Agent : GPTBot/1.3", refused, otherText},
		nameTrick{"a field without a name", ": GPTBot/1.3", refused, notAField},
		nameTrick{"a field with a parenthesis", "User-Agent(x): GPTBot/1.3", refused, notAField},
	)
	return tricks
}
