package dashboard

import (
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// noon is the current time of the scripted day.
var noon = time.Date(2026, 11, 21, 14, 20, 30, 0, time.UTC)

const (
	exampleBefore = `# Everybody may read everything but the private part.
User-agent: *
Disallow: /private/
Crawl-delay: 1

User-agent: Googlebot
Disallow: /private/
Allow: /private/press/
`
	exampleNow = `# Everybody may read everything but the private part.
User-agent: *
Disallow: /private/
Disallow: /search?
Disalow: /tmp/
Crawl-delay: 1

# Google may read the press kit in it, too.
User-agent: Googlebot
Disallow: /private/
Disallow: /search?
Allow: /private/press/

# Nothing here is for training models.
User-agent: GPTBot
User-agent: ClaudeBot
User-agent: CCBot
Disallow: /
Allow: /about/

User-agent: Bytespider
Crawl-delay: 10
Disallow: /

Sitemap: https://example.com/sitemap.xml
`
	shop = `User-agent: *
Disallow: /cart
Disallow: /*?sort=
`
)

// client is a crawler of the scripted day.
type client struct {
	token, userAgent, network string
	class                     uaident.Class // of a crawler that is not in the registry
	identity                  verify.State
	site                      string
	perHour                   float64
	rhythm                    float64 // influence of the time of day, from 0 to 1
	paths                     []string
	reads                     time.Duration // time since it fetched robots.txt; 0 for never
}

var clients = []client{
	{token: "Googlebot", userAgent: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", network: "66.249.66.0/24", identity: verify.Verified, site: "example.com", perHour: 140, rhythm: 0.5, reads: 41 * time.Minute,
		paths: []string{"/", "/articles/42", "/articles/77", "/about/", "/private/press/kit.zip", "/search?q=a"}},
	// The guard counts spoofed clients separately from genuine ones.
	{token: "_spoofed", userAgent: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", network: "203.0.113.0/24", class: uaident.Other, identity: verify.Spoofed, site: "example.com", perHour: 9, rhythm: 0.2,
		paths: []string{"/private/users", "/private/export.csv"}},
	{token: "bingbot", userAgent: "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", network: "157.55.39.0/24", identity: verify.Verified, site: "example.com", perHour: 95, rhythm: 0.4, reads: 3 * time.Hour,
		paths: []string{"/", "/articles/1", "/articles/42"}},
	{token: "bingbot", userAgent: "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", network: "157.55.39.0/24", identity: verify.Verified, site: "shop.example.com", perHour: 30, rhythm: 0.4, reads: 7 * time.Hour,
		paths: []string{"/", "/shoes", "/shoes?size=43", "/hats"}},
	{token: "GPTBot", userAgent: "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)", network: "20.15.240.0/24", identity: verify.Claimed, site: "example.com", perHour: 70, rhythm: 0.9, reads: 30 * time.Hour,
		paths: []string{"/articles/1", "/articles/42", "/articles/77", "/about/", "/articles/1?page=2"}},
	{token: "ClaudeBot", userAgent: "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)", network: "160.79.104.0/24", identity: verify.Claimed, site: "example.com", perHour: 12, rhythm: 0.3, reads: 2 * time.Hour,
		paths: []string{"/about/"}},
	{token: "Bytespider", userAgent: "Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)", network: "110.249.201.0/24", identity: verify.Claimed, site: "example.com", perHour: 55, rhythm: 0.7,
		paths: []string{"/articles/1", "/articles/2", "/articles/3", "/articles/4?ref=tag", "/private/"}},
	{token: "AhrefsBot", userAgent: "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)", network: "54.36.148.0/24", identity: verify.Verified, site: "shop.example.com", perHour: 60, rhythm: 0.1, reads: 5 * time.Hour,
		paths: []string{"/", "/shoes", "/hats", "/hats?colour=red"}},
	{token: "SemrushBot", userAgent: "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)", network: "185.191.171.0/24", identity: verify.Claimed, site: "shop.example.com", perHour: 25, rhythm: 0.2, reads: 26 * time.Hour,
		paths: []string{"/", "/shoes", "/shoes?sort=price", "/cart"}},
	{token: "facebookexternalhit", userAgent: "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)", network: "173.252.87.0/24", identity: verify.Claimed, site: "example.com", perHour: 14, rhythm: 0.8,
		paths: []string{"/articles/42", "/private/press/kit.zip"}},
	{token: ledger.Other, userAgent: "FooBarBot/3.1 (+https://foo.example/bot)", network: "198.51.100.0/24", class: uaident.GenericCrawler, identity: verify.Claimed, site: "example.com", perHour: 7, rhythm: 0.5,
		paths: []string{"/", "/articles/1", "/private/"}},
}

// scriptedDay returns the ledger of a small server after three days. Tests share it, but can
// replace its fields and sites.
func scriptedDay(t *testing.T) *report.Source {
	t.Helper()
	day := *threeDays()
	day.SiteStates = maps.Clone(day.SiteStates)
	return &day
}

// threeDays computes the scripted day once.
var threeDays = sync.OnceValue(func() *report.Source {
	answer := func(text string) policy.FetchResult {
		return policy.FetchResult{Status: http.StatusOK, Body: []byte(text)}
	}
	freshness := policy.FreshnessPolicy{Default: 10 * time.Minute, Max: policy.MaxAge}
	changed := noon.Add(-28 * time.Hour)
	first := policy.State{}.AfterFetch(answer(exampleBefore), noon.Add(-200*time.Hour), freshness, 0)
	example := first.AfterFetch(answer(exampleNow), changed, freshness, 0).AfterFetch(answer(exampleNow), noon.Add(-4*time.Minute), freshness, 0)
	shopNow := policy.State{}.AfterFetch(answer(shop), noon.Add(-150*time.Hour), freshness, 0).AfterFetch(answer(shop), noon.Add(-3*time.Hour), freshness, 0)
	for i := range 6 {
		shopNow = shopNow.AfterFetch(policy.FetchResult{Status: http.StatusBadGateway}, noon.Add(-2*time.Hour+time.Duration(i)*20*time.Minute), freshness, 0)
	}
	live := map[string]report.SiteState{
		"example.com":      {Mode: "enforce", Authority: "https://example.com", Source: "server", State: &example},
		"shop.example.com": {Mode: "monitor", Authority: "https://shop.example.com", Source: "server", State: &shopNow},
	}

	at := noon.Add(-72 * time.Hour)
	l := ledger.New(func() time.Time { return at })
	dice := rand.New(rand.NewPCG(1, 2))
	for ; at.Before(noon); at = at.Add(time.Minute) {
		for i := range clients {
			c := &clients[i]
			ago := noon.Sub(at)
			site := live[c.site]
			version, old := site.State.Current, (*policy.Version)(nil)
			if c.site == "example.com" {
				if at.Before(changed) {
					version = first.Current
				} else if ago < c.reads || c.reads == 0 || c.reads > 28*time.Hour {
					old = first.Current
				}
			}
			if c.reads > 0 && ago == c.reads {
				q := request(c, at, "/robots.txt", version)
				l.Record(q)
				l.RecordRobotsFetch(q, ledger.RobotsFetch{At: at.UnixMilli(), Status: 200, Version: version.Hash})
			}
			hour := float64(at.Hour()) + float64(at.Minute())/60
			swing := 1 + c.rhythm*math.Sin((hour-8)/24*2*math.Pi)
			for n := poisson(dice, c.perHour/60*swing); n > 0; n-- {
				q := request(c, at.Add(time.Duration(dice.IntN(60))*time.Second), c.paths[dice.IntN(len(c.paths))], version)
				decide(q, version, old, site.Mode == "enforce", at.Sub(changed) < 24*time.Hour)
				l.Record(q)
			}
		}
		l.Snapshot() // the order matters
		if at.Equal(changed) {
			l.RecordRobotsChange("example.com", first.Current, example.Current, at)
		}
	}
	at = noon
	return &report.Source{Ledger: l.Snapshot(), Now: noon, SiteStates: live}
})

func poisson(dice *rand.Rand, mean float64) (n int) {
	for p := dice.Float64(); p > math.Exp(-mean); p *= dice.Float64() {
		n++
	}
	return n
}

func request(c *client, at time.Time, target string, version *policy.Version) *ledger.Request {
	class := c.class
	if known := uaident.Default().Lookup(c.token); known != nil {
		class = known.Class
	}
	return &ledger.Request{
		At: at, Site: c.site, Token: c.token, Class: class, Identity: c.identity, Method: http.MethodGet, Target: target,
		UserAgent: c.userAgent, Network: netip.MustParsePrefix(c.network), VersionFetchedAt: version.FirstFetched, Rule: ledger.Rule{Version: version.Hash},
	}
}

// decide sets the verdict according to the current and the previous version.
func decide(q *ledger.Request, version, old *policy.Version, enforce, grace bool) {
	verdictOf := func(v *policy.Version) (policy.Verdict, bool) {
		tokens, global := []string{q.Token}, q.Class.WildcardApplies() || q.Identity == verify.Spoofed
		if known := uaident.Default().Lookup(q.Token); known != nil {
			tokens, global = slices.Concat(tokens, known.Aliases, known.Fallback), known.WildcardApplies()
		}
		selection := v.Robots.Select(global, tokens...)
		return selection.Judge(q.Target), selection != nil
	}
	v, meant := verdictOf(version)
	q.GroupLine = v.Group.Line
	q.Rule.Line, q.Rule.Group = v.Rule.Line, v.Group.Name
	if v.Rule.Line > 0 {
		lines := strings.Split(version.Robots.Text(), "\n")
		q.Rule.Text = lines[v.Rule.Line-1]
	}
	switch {
	case !meant:
		q.Verdict = judge.Exempt
	case v.Allowed:
		q.Verdict = judge.Allowed
	default:
		q.Verdict = judge.Disallowed
		if old != nil && grace {
			if before, _ := verdictOf(old); before.Allowed {
				q.Verdict = judge.Stale
				return
			}
		}
		q.WouldBlock = !enforce
		q.Action = judge.Logged
		if enforce {
			q.Action = judge.Blocked
		}
	}
}
