package guard

import (
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Rate is the pace of a crawler at a site and the limits that apply to the crawler. The zero value
// means no limit.
type Rate struct {
	State rate.State
	// Delay is the Crawl-delay for this crawler. IsStale means that the current file has a longer
	// Crawl-delay, which the crawler may not have read.
	Delay   policy.Delay
	IsStale bool
	// EnforcedInterval is the time between requests that the guard enforces for Delay. It may be
	// shorter than Delay.
	EnforcedInterval time.Duration
	// Limit is the configured limit, nil for none.
	Limit *rate.Limit
	rate.Pace
	actionWithoutSlowing judge.Action // This is the action that would apply without slowing.
}

// chargeRate charges a request to the Crawl-delay and the configured limit of its crawler, if any,
// and sets j.Rate. If the crawler is over an enforced limit, it sets the action Slowed. state is
// the cached state of the robots.txt, or nil.
func (g *Guard) chargeRate(r *http.Request, j *Judgement, state *policy.State, now time.Time) {
	if g.Rate == nil || j.Action == judge.Blocked || j.Reason == judge.ReasonRobotsTxt {
		return
	}
	limit, robots := g.Rate.FirstLimitForClient(j.Client), j.robots()
	var delay policy.Delay
	if j.Version != nil && !g.Rate.IgnoreCrawlDelay {
		delay = judge.CrawlDelay(j.Group, j.Client.CrawlDelay())
	}
	if delay.Interval == 0 && limit == nil || !g.Rate.CountsRequest(j.Method, j.Path, robots) {
		return
	}
	stale := false
	if delay.Interval > 0 {
		delay, stale = g.shortestUsableDelay(r, j, delay, state, now)
	}
	if delay.Interval == 0 && limit == nil {
		return // The file that the crawler has read has no delay.
	}
	rules := g.Rate.RulesForClient(&j.Client, j.Verification, delay.Interval, limit)
	client := rate.Client{
		Site: j.Site.OwnKey(), UnknownHost: !j.Site.NamedInConfig,
		Token: j.KnownName(), Identity: j.Verification, IsSharedSoftware: rate.IsSharedSoftware(&j.Client),
	}
	if client.Token == "" && limit != nil {
		client.Token = limit.ProductToken()
	}
	if client.Token == "" || client.Identity != verify.Verified { // A verified crawler has one budget for all addresses.
		client.Network = addr.NetworkOfAddr(site.ClientAddr(r))
	}
	enforcedInterval, earlierPace := rules.CrawlDelay.Interval, rate.Pace{}
	if before, _ := caddyhttp.GetVar(r.Context(), Var).(*Judgement); before != nil {
		client.HeldSlot = before.resources.heldSlot
		earlierPace = j.removeChargedLimits(before, &rules)
	}
	pace := g.state.rates.ChargeRequest(now, &client, &rules)
	// The earlier guard has charged some limits, and its result counts here, too.
	if earlierPace.IsOverRate && earlierPace.Wait > pace.Wait {
		pace.IsOverRate, pace.Wait, pace.IsOverLimit, pace.Requests = true, earlierPace.Wait, earlierPace.IsOverLimit, earlierPace.Requests
		pace.MustSlow = pace.MustSlow || rules.Mode == rate.Enforce && (earlierPace.IsOverLimit || !rules.IgnoresCrawlDelay)
	}
	j.resources.setSlots(pace.Slot, client.HeldSlot)
	j.Rate.State, j.Rate.Delay, j.Rate.IsStale, j.Rate.EnforcedInterval, j.Rate.Limit = rate.StateOfPace(pace), delay, stale, enforcedInterval, limit
	j.Rate.Pace = pace
	if pace.MustSlow {
		j.Rate.actionWithoutSlowing, j.Action = j.Action, judge.Slowed
	}
}

// removeChargedLimits prevents that two guards charge one request twice. It removes from rules the
// limits that an earlier guard has charged for the same crawler at the same site. It returns the
// earlier pace if this pace is about a removed limit, else the zero Pace.
//
// For example, both guards limit to 10r/m, the first also keeps a Crawl-delay of 5 s and the second one
// of 8 s. Only the first guard charges the 10r/m. Each charges its own Crawl-delay. If the first found
// the crawler over 10r/m, the second slows it for that, too. If the first found it only over 5 s,
// the second decides by its 8 s alone.
func (j *Judgement) removeChargedLimits(before *Judgement, rules *rate.Rules) (earlierPace rate.Pace) {
	earlierLimit := rate.Rule{}
	if before.Rate.Limit != nil {
		earlierLimit = before.Rate.Limit.Rule
	}
	if earlierLimit != rules.ConfiguredLimit || *before.Site.OwnKey() != *j.Site.OwnKey() || before.Verification != j.Verification || before.KnownName() != j.KnownName() {
		return earlierPace // The earlier guard charged other budgets.
	}
	rules.ConfiguredLimit = rate.Rule{}
	sameDelay := before.Rate.EnforcedInterval == rules.CrawlDelay.Interval
	if sameDelay {
		rules.CrawlDelay = rate.Rule{}
	}
	// This guard still charges its own Crawl-delay, and checks concurrent requests itself (see
	// [rate.Client].HeldSlot).
	if earlierPace = before.Rate.Pace; earlierPace.IsOverConcurrent || !earlierPace.IsOverLimit && !sameDelay {
		return rate.Pace{}
	}
	return earlierPace
}

// shortestUsableDelay returns the shortest Crawl-delay of the files that a crawler may be using.
// delay is the Crawl-delay in the guard's copy. stale is true if the returned delay is shorter.
func (g *Guard) shortestUsableDelay(r *http.Request, j *Judgement, delay policy.Delay, state *policy.State, now time.Time) (known policy.Delay, stale bool) {
	if state == nil || state.Current == nil {
		return delay, false
	}
	others, lost := g.recordCopyAndFindOthers(r, j, state, now)
	if lost {
		return policy.Delay{}, true
	}
	known = delay
	for _, v := range others {
		if asked := g.delayInVersion(r, j, v); asked.Interval < known.Interval {
			known, stale = asked, true
		}
	}
	return known, stale
}

// delayInVersion returns the Crawl-delay that a version of the robots.txt has for the client of a
// request.
func (g *Guard) delayInVersion(r *http.Request, j *Judgement, version *policy.Version) policy.Delay {
	var scratch judge.Scratch
	var result judge.Result
	q := g.reidentifyExceptAsBrowser(r, j, version)
	g.Settings.Judge(&q, judge.Rules{Robots: version.Robots}, &scratch, &result)
	return judge.CrawlDelay(result.Group, q.Client.CrawlDelay())
}

// addRateFields adds the fields about the rate of the crawler to a log line.
func (j *Judgement) addRateFields(enc zapcore.ObjectEncoder) {
	if j.Rate.State == rate.NoRate {
		return
	}
	enc.AddString("rate", j.Rate.State.String())
	if delay := j.Rate.Delay; delay.Line > 0 {
		enc.AddFloat64("rate_delay", delay.Interval.Seconds())
		enc.AddInt("rate_line", delay.Line)
	}
	if j.Rate.IsStale {
		enc.AddBool("rate_stale", true)
	}
	if j.Rate.IsOverRate {
		enc.AddInt("rate_seen", j.Rate.Requests)
	}
	if j.Rate.Wait > 0 {
		enc.AddFloat64("rate_wait", j.Rate.Wait.Seconds())
	}
	if j.Rate.IsOverLimit {
		enc.AddString("rate_limit", j.Rate.Limit.ExceededPart(j.Rate.IsOverConcurrent))
	}
}

// logSlowingEnded warns, and emits an event, that a search engine over its limit no longer gets
// 429.
func (g *Guard) logSlowingEnded(j *Judgement, crawler string) {
	if c := g.Logger.Check(zapcore.WarnLevel, "a search engine was slowed for a whole day; the limit is lifted, because pages that return 429 for days drop out of the index"); c != nil {
		c.Write(zap.String("host", j.Site.Label), zap.String("crawler", crawler), zap.String("identity", j.Verification.String()),
			zap.String("advice", "lower the Crawl-delay or raise the limit for this crawler; the guard slows it again after it has kept the limit for a day"))
	}
	if g.Events != nil && g.Events.hasSubscriber(eventSlowingEnded) {
		g.Events.Send(eventSlowingEnded, map[string]any{"site": j.Site.Label, "crawler": crawler, "identity": j.Verification.String()})
	}
}
