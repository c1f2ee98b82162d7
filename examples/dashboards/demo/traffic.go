package main

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

const (
	blogBefore = `# Everybody may read everything but the private part.
User-agent: *
Disallow: /private/
Crawl-delay: 2
`
	blogAfter = `# Everybody may read everything but the private part.
User-agent: *
Disallow: /private/
Disalow: /tmp/
Crawl-delay: 2

# Nothing here is for training models.
User-agent: GPTBot
User-agent: ClaudeBot
User-agent: Bytespider
Disallow: /
Allow: /about/

Sitemap: http://localhost/sitemap.xml
`
	shopRobots = `User-agent: *
Disallow: /cart
Disallow: /*?sort=
`
)

// change is when the blog's robots.txt changes.
const change = time.Minute

// robots is the robots.txt of a site after some time.
func robots(shop bool, age time.Duration) string {
	switch {
	case shop:
		return shopRobots
	case age < change:
		return blogBefore
	}
	return blogAfter
}

// crawler is a crawler that visits the demo.
type crawler struct {
	userAgent string
	host      string // localhost or shop.localhost
	every     time.Duration
	reads     int // number of requests between two fetches of robots.txt, 0 for no fetches
	paths     []string
}

var crawlers = []crawler{
	{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "localhost", 400 * time.Millisecond, 40, []string{"/", "/articles/1", "/articles/42", "/about/"}},
	{"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "shop.localhost", 700 * time.Millisecond, 50, []string{"/", "/shoes", "/hats", "/shoes?size=43"}},
	{"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "localhost", 900 * time.Millisecond, 50, []string{"/", "/articles/1", "/private/"}},
	{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)", "localhost", 500 * time.Millisecond, 400, []string{"/articles/1", "/articles/42", "/articles/1?page=2", "/about/"}},
	{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)", "localhost", 3 * time.Second, 10, []string{"/about/"}},
	{"Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)", "localhost", 600 * time.Millisecond, 0, []string{"/articles/1", "/articles/2", "/articles/3?ref=tag", "/private/"}},
	{"Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)", "shop.localhost", time.Second, 60, []string{"/", "/shoes", "/hats"}},
	{"Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)", "shop.localhost", 800 * time.Millisecond, 80, []string{"/", "/shoes?sort=price", "/cart", "/hats"}},
	{"CCBot/2.0 (https://commoncrawl.org/faq/)", "localhost", 2 * time.Second, 30, []string{"/", "/articles/42"}},
	{"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)", "localhost", 4 * time.Second, 0, []string{"/articles/42", "/private/press.html"}},
	{"Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)", "shop.localhost", 5 * time.Second, 0, []string{"/"}},
	{"FooBarBot/3.1 (+https://foo.example/bot)", "localhost", 3 * time.Second, 0, []string{"/", "/private/", "/articles/1"}},
}

// crawl lets all crawlers visit until ctx ends, and returns when all have
// stopped.
func crawl(ctx context.Context, listen, port string) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, listen)
		},
		MaxIdleConnsPerHost: len(crawlers),
	}}
	done := make(chan struct{})
	for _, c := range crawlers {
		go func() {
			c.visit(ctx, client, port)
			done <- struct{}{}
		}()
	}
	for range crawlers {
		<-done
	}
	client.CloseIdleConnections()
}

func (c crawler) visit(ctx context.Context, client *http.Client, port string) {
	for n := 0; ; n++ {
		path := c.paths[rand.IntN(len(c.paths))]
		if c.reads > 0 && n%c.reads == 0 {
			path = "/robots.txt"
		}
		if r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.host+":"+port+path, nil); err == nil {
			r.Header.Set("User-Agent", c.userAgent)
			if answer, err := client.Do(r); err == nil {
				_ = answer.Body.Close()
			}
		}
		// Intervals are random, as with real crawlers.
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(float64(c.every) * (0.5 + rand.Float64()))):
		}
	}
}
