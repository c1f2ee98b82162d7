package crawlers

import (
	"net/http"
	"time"

	"github.com/PuerkitoBio/gocrawl"
	"github.com/gocolly/colly/v2"
)

// crawlByColly follows every link with colly.
func crawlByColly(starts []string, obey bool, userAgent string) error {
	c := colly.NewCollector(colly.MaxDepth(2), colly.Async(true))
	c.IgnoreRobotsTxt = !obey
	if userAgent != "" {
		c.UserAgent = userAgent
	}
	c.SetRequestTimeout(time.Minute)
	if err := c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: 8}); err != nil {
		return err
	}
	c.OnHTML("a[href]", func(e *colly.HTMLElement) {
		_ = e.Request.Visit(e.Attr("href")) // fails if robots.txt disallows the URL
	})
	for _, start := range starts {
		if err := c.Visit(start); err != nil {
			return err
		}
	}
	c.Wait()
	return nil
}

// crawlByGocrawl follows every link with gocrawl.
func crawlByGocrawl(starts []string, obey bool, userAgent, token string) error {
	options := gocrawl.NewOptions(&gocrawlExtender{obey: obey})
	options.CrawlDelay = time.Millisecond
	options.WorkerIdleTTL = time.Minute
	options.LogFlags = gocrawl.LogNone
	options.EnqueueChanBuffer = 10_000
	if userAgent != "" {
		options.UserAgent, options.RobotUserAgent = userAgent, token
	}
	return gocrawl.NewCrawlerWithOptions(options).Run(starts)
}

// gocrawlExtender fetches robots.txt only if it obeys.
type gocrawlExtender struct {
	gocrawl.DefaultExtender
	obey bool
}

func (e *gocrawlExtender) RequestRobots(*gocrawl.URLContext, string) ([]byte, bool) {
	return nil, e.obey
}

func (e *gocrawlExtender) Error(*gocrawl.CrawlError) {}

func (e *gocrawlExtender) FetchedRobots(*gocrawl.URLContext, *http.Response) {}
