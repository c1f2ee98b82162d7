package site

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// These are the bounds of a self-test.
const (
	maxSelfTestHosts = 100
	selfTestTimeout  = 5 * time.Second // selfTestTimeout limits each fetch.

	// selfTestDelay is the time before the first fetch. A reload during this time replaces the test
	// before any request.
	selfTestDelay = time.Second
)

// These are the User-Agents of the fetches. Bot filters see the first as a browser and the second
// as a crawler, like the guard's later fetches.
const (
	SelfTestBrowser = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36"
	SelfTestCrawler = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot) " + GuardUserAgent
	selfTestToken   = "GPTBot"
)

var errSelfTestTimeout = errors.New("no complete answer within 5s")

// SelfTestSite is a configured host whose robots.txt the self-test fetches.
type SelfTestSite struct {
	Name  string // Name is for example https://example.com.
	Label string // Label is the name of the configured host in reports.
	// IsInventedHost is true for an invented host name, which stands for a wildcard or for a site
	// without a host. A missing file, a page or a redirect then causes no warning.
	IsInventedHost bool
	// ReceivedRequest becomes true when a robots_txt of the host gets the request. It is nil for a
	// host without robots_txt.
	ReceivedRequest *atomic.Bool
	// Fetch fetches the robots.txt with a User-Agent.
	Fetch func(ctx context.Context, userAgent string) policy.FetchResult
}

// SelfTest fetches the robots.txt of each configured host and logs problems.
type SelfTest struct {
	Sites iter.Seq[SelfTestSite] // At most [maxSelfTestHosts] sites are tested.
	// OnCrawlerResponse is called with the response to the crawler's User-Agent, if the browser's
	// User-Agent gets the robots.txt.
	OnCrawlerResponse func(responseaudit.RobotsFetcher, responseaudit.RobotsResponse)
	Logger            *zap.Logger
}

// Start runs the test in the background, without concurrent fetches. stop cancels the test and
// waits for its end.
func (t *SelfTest) Start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-time.After(selfTestDelay):
			t.run(ctx)
		case <-ctx.Done():
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// run tests the sites until ctx is done.
func (t *SelfTest) run(ctx context.Context) {
	count := 0
	for site := range t.Sites {
		if count == maxSelfTestHosts {
			t.Logger.Info("self-test: the configuration has more hosts than are tested", zap.Int("tested", maxSelfTestHosts))
			return
		}
		count++
		browser := fetchRobots(ctx, &site, SelfTestBrowser)
		crawler := fetchRobots(ctx, &site, SelfTestCrawler)
		if ctx.Err() != nil {
			return
		}
		if browser.isSame(crawler) {
			t.logOutcome(&site, browser, "browser and crawler")
		} else {
			t.logOutcome(&site, browser, "browser")
			t.logOutcome(&site, crawler, "crawler")
		}
		if site.ReceivedRequest != nil && browser.status != 0 && !site.ReceivedRequest.Load() {
			t.Logger.Warn("self-test: robots_txt gets no requests for /robots.txt", zap.String("site", site.Name), zap.Int("status", browser.status),
				zap.String("advice", "another handler answers first, or robots_txt is for other paths only; put robots_txt before that handler, in a route if necessary"))
		}
		if browser.isFile && crawler.hasResponse {
			t.OnCrawlerResponse(responseaudit.RobotsFetcher{Site: site.Label, Token: selfTestToken, Class: uaident.AITraining.String()}, crawler.response)
		}
	}
}

// fetchRobots fetches the robots.txt of a site and examines the response.
func fetchRobots(ctx context.Context, site *SelfTestSite, userAgent string) selfTestOutcome {
	ctx, cancel := context.WithTimeoutCause(ctx, selfTestTimeout, errSelfTestTimeout)
	defer cancel()
	return evaluateFetchResult(site.Fetch(ctx, userAgent))
}

// logOutcome logs the outcome of a fetch with the User-Agent of client, "browser" or "crawler".
func (t *SelfTest) logOutcome(site *SelfTestSite, outcome selfTestOutcome, client string) {
	level := zapcore.InfoLevel
	if outcome.advice != "" && (outcome.isRefusal || !site.IsInventedHost) {
		level = zapcore.WarnLevel
	}
	entry := t.Logger.Check(level, "self-test: "+outcome.summary)
	if entry == nil {
		return
	}
	fields := []zap.Field{zap.String("site", site.Name), zap.String("client", client)}
	if site.IsInventedHost {
		fields = append(fields, zap.Bool("unknown_host", true))
	}
	if outcome.status != 0 {
		fields = append(fields, zap.Int("status", outcome.status))
	}
	if outcome.isFile {
		fields = append(fields, zap.Int("rules", outcome.ruleCount))
	}
	if outcome.response.Location != "" {
		fields = append(fields, zap.String("location", outcome.response.Location))
	}
	if outcome.err != nil {
		fields = append(fields, zap.Error(outcome.err))
	}
	if outcome.advice != "" {
		fields = append(fields, zap.String("advice", outcome.advice))
	}
	entry.Write(fields...)
}
