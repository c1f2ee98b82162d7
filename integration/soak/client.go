package main

// kind is what a client counts as. The guard judges crawlers only.
type kind int

const (
	browser kind = iota
	bystander
	crawler
	banned  // a crawler that the robots.txt names and forbids everything
	managed // a crawler that a composed robots.txt names so
	limited // a crawler that a strict site grants one request in a day
	proved  // a crawler that the robots.txt names and lets in
	liar    // who uses its name
)

// client is somebody who asks.
type client struct {
	name, userAgent, label string // label: in the metrics; empty if not counted
	kind                   kind
}

// Addresses of clients as a proxy tells them, each of a network of its own.
const (
	listed   = "192.0.2.1" // in the list of addresses of the one crawler that has a list
	unlisted = "203.0.113.9"
	others   = "198.51.100.7"
)

// address returns where a proxy says that the client is, empty if it says nothing.
func (c client) address() string {
	switch c.kind {
	case proved:
		return listed
	case liar:
		return unlisted
	}
	return ""
}

// identity returns that of its requests, empty if it is not judged.
func (c client) identity() string {
	switch c.kind {
	case browser:
		return ""
	case proved:
		return "verified"
	case liar:
		return "spoofed"
	}
	return "claimed"
}

const verix = "Verix/1.0 (+https://verix.test/bot)"

var clients = []client{
	{"Firefox", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "", browser},
	{"Chrome", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36", "", browser},
	{"Safari", "Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Mobile/15E148 Safari/604.1", "", browser},
	{"curl", "curl/8.7.1", "curl", bystander},
	{"Feedly", "Feedly/1.0 (+http://www.feedly.com/fetcher.html; like FeedFetcher-Google)", "Feedly", bystander},
	{"bingbot", "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "bingbot", crawler},
	{"Googlebot", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot", crawler},
	{"unknown", "FooBarBot/3.1 (+https://foo.example/bot)", "_other", crawler},
	{"Quuxle", "Quuxle/1.0", "Quuxle", crawler}, // whom the registry file names
	{"GPTBot", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)", "GPTBot", banned},
	{"CCBot", "CCBot/2.0 (https://commoncrawl.org/faq/)", "CCBot", managed},
	{"ClaudeBot", "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)", "ClaudeBot", crawler},
	{"SemrushBot", "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)", "SemrushBot", limited},
	{"Verix", verix, "Verix", proved},
	{"false Verix", verix, "_spoofed", liar},
}

// named returns the client by a name.
func named(name string) client {
	for _, c := range clients {
		if c.name == name {
			return c
		}
	}
	panic("there is no client " + name)
}
