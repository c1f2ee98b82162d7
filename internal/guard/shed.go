package guard

import (
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
)

// eventShedding tells that crawlers are shed at a site, or are no more.
const eventShedding = "robots_shedding"

// shed sheds a request of a crawler while its site is under load, and reports whether it
// did. With rate observe it says so, and the request passes.
func (g *Guard) shed(j *Judgement) bool {
	if !g.Rate.Sheds(j.Client.Class) || !g.loadOf(j.kept, j.Site.Label).Under() || !rate.MayStop(j.Method, j.Path, j.robots()) {
		return false
	}
	j.Rate = Rate{State: rate.Shed, Pace: rate.Pace{Wait: g.Rate.Shed.Calm}}
	if g.Rate.Enforce {
		j.Rate.instead, j.Action = j.Action, judge.Slowed
	}
	return true
}

// loadOf returns the load of a site by its label. kept is nil for a host that the
// configuration does not name just so.
func (g *Guard) loadOf(kept *keptSite, label string) *siteLoad {
	if kept != nil {
		return kept.load
	}
	return g.shared.loads.of(label, g)
}

// loadBy returns the load that the answer to a request tells of, nil for none, and when it
// began. j is nil for a request that nobody judges: how long people wait is what it is about.
func (g *Guard) loadBy(r *http.Request, j *Judgement) (load *siteLoad, began time.Duration) {
	switch {
	case g.Rate == nil || g.Rate.Shed == nil || mayHaveBody(r):
		return nil, 0
	case j != nil:
		if !g.Rate.Measures(j.Method, j.Path, j.robots()) {
			return nil, 0
		}
		load = g.loadOf(j.kept, j.Site.Label)
	case !g.Rate.Measures(r.Method, r.URL.Path, nil):
		return nil, 0
	default:
		if kept := g.namedSite(r); kept != nil {
			load = kept.load
		} else {
			load = g.shared.loads.of(g.otherSite(r).Label, g)
		}
	}
	if began = g.shared.loads.now(); !load.Samples(began) {
		return nil, 0
	}
	return load, began
}

// mayHaveBody reports whether a site may have to wait for the body of a request, as slowly
// as the client sends it. By HTTP/3 any request may have one that does not say how long it is.
func mayHaveBody(r *http.Request) bool {
	return r.ContentLength > 0 || r.ContentLength < 0 && r.ProtoMajor < 3
}

// observe counts how long the first byte of an answer took. left says that the client left
// before: that tells something only if it has waited for too long by then.
func (g *Guard) observe(load *siteLoad, took time.Duration, left bool) {
	if load == nil || took == 0 || left && took <= load.Above {
		return
	}
	if now := g.shared.loads.now(); load.Observe(now, took) {
		g.tellSheddingBegan(load.site, load.Recent(now))
		go g.shared.loads.watch(load)
	}
}

// passMeasured passes on a request that nobody judges, and takes the time of the answer.
func (g *Guard) passMeasured(w http.ResponseWriter, r *http.Request, load *siteLoad, began time.Duration, next caddyhttp.Handler) error {
	a := &answer{passing: passTo(w), method: r.Method, stopwatch: stopwatch{clock: g.shared.loads.now, began: began}}
	defer func() {
		g.observe(load, a.read(), a.status == 0 && r.Context().Err() != nil)
	}()
	return g.passVisitor(a, r, next)
}

// tellSheddingBegan tells that a site is under load.
func (g *Guard) tellSheddingBegan(site string, seen rate.Seen) {
	by := g.Rate.Shed.Thresholds
	message := "a site is under load: crawlers are answered 503 until that is over"
	if !g.Rate.Enforce {
		message = "a site is under load: with rate enforce crawlers would be answered 503 until that is over"
	}
	if c := g.Logger.Check(zapcore.WarnLevel, message); c != nil {
		c.Write(zap.String("host", site), zap.Int("answers", seen.Answers), zap.Int("slow", seen.Slow),
			zap.Duration("above", by.Above), zap.Duration("for", by.For), zap.Bool("enforced", g.Rate.Enforce))
	}
	g.emitShedding(site, map[string]any{"over": false, "answers": seen.Answers, "slow": seen.Slow, "above": by.Above.Seconds()})
}

// tellSheddingEnded tells that a site is under load no more.
func (g *Guard) tellSheddingEnded(site string, lasted time.Duration) {
	if c := g.Logger.Check(zapcore.InfoLevel, "a site is no longer under load, and crawlers are let in again"); c != nil {
		c.Write(zap.String("host", site), zap.Duration("lasted", lasted.Round(time.Second)), zap.Bool("enforced", g.Rate.Enforce))
	}
	g.emitShedding(site, map[string]any{"over": true, "lasted": lasted.Seconds()})
}

// tellSheddingStopped tells that nobody looks at the load of a site any more, since the
// configuration does not say so, or the server ends.
func (g *Guard) tellSheddingStopped(site string) {
	if c := g.Logger.Check(zapcore.InfoLevel, "crawlers are let in again, since the configuration by which they were shed has ended"); c != nil {
		c.Write(zap.String("host", site), zap.Bool("enforced", g.Rate.Enforce))
	}
}

func (g *Guard) emitShedding(site string, data map[string]any) {
	if g.Events == nil || !g.Events.wanted(eventShedding) {
		return
	}
	data["site"], data["enforced"] = site, g.Rate.Enforce
	g.Events.Send(eventShedding, data)
}

// SheddingHosts returns the sites at which crawlers are shed, or would be with rate
// enforce.
func (s *State) SheddingHosts() map[string]bool { return s.loads.hosts() }
