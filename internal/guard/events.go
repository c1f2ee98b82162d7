package guard

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// The names of events.
const (
	eventViolation    = "robots_violation"
	eventChanged      = "robots_changed"
	eventSlowingEnded = "robots_slowing_ended"
)

// eventInterval is the least time between two events about violations of one crawler at one
// site.
const eventInterval = time.Hour

// maxEmitting is how many events may be under way at the same time. Their
// handlers may take long, such as a webhook; what comes then is left out.
const maxEmitting = 8

// Events tells Caddy's events app what happens.
type Events struct {
	emit     func(name string, data map[string]any)
	wanted   func(name string) bool
	emitting chan struct{}
	logger   *zap.Logger

	mu   sync.Mutex
	last map[string]chan struct{} // what is emitted last of those under way, by what it is about; closed then
}

// NewEvents returns the events of a configuration. It loads the events app,
// which is harmless if nobody subscribes.
func NewEvents(ctx caddy.Context, logger *zap.Logger) (*Events, error) {
	app, err := eventsApp(ctx)
	if err != nil {
		return nil, err
	}
	return &Events{
		emit:     func(name string, data map[string]any) { app.Emit(ctx, name, data) },
		wanted:   app.ShouldEmit,
		emitting: make(chan struct{}, maxEmitting),
		logger:   logger,
	}, nil
}

// OnceStarted has do called once all apps of a configuration run that is being provisioned.
func OnceStarted(ctx caddy.Context, do func()) error {
	app, err := eventsApp(ctx)
	if err != nil {
		return err
	}
	return app.On("started", handler(do))
}

// handler is a handler of an event.
type handler func()

// Handle implements [caddyevents.Handler].
func (do handler) Handle(context.Context, caddy.Event) error {
	do()
	return nil
}

func eventsApp(ctx caddy.Context) (*caddyevents.App, error) {
	module, err := ctx.App("events")
	if err != nil {
		return nil, fmt.Errorf("getting the events app: %w", err)
	}
	app, ok := module.(*caddyevents.App)
	if !ok {
		return nil, fmt.Errorf("the app named events is a %T", module)
	}
	return app, nil
}

// Send emits an event in a goroutine of its own, since handlers run before Emit
// returns and no request is to wait for them. It ends with the last handler;
// Caddy calls no more of them once the configuration has ended. Those about one
// site, and one crawler if they name any, come in the order in which they are sent.
func (e *Events) Send(name string, data map[string]any) {
	select {
	case e.emitting <- struct{}{}:
	default:
		e.logger.Warn("an event is left out, since the handlers of earlier ones take too long", zap.String("event", name))
		return
	}
	about, told := fmt.Sprint(data["site"], " ", data["crawler"]), make(chan struct{})
	before := e.inTurn(about, told)
	go func() {
		defer func() { <-e.emitting }()
		if before != nil {
			<-before
		}
		e.emit(name, data)
		e.ended(about, told)
	}()
}

// inTurn returns what is closed once the event before was emitted that is about the same,
// nil for none.
func (e *Events) inTurn(about string, told chan struct{}) (before <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last == nil {
		e.last = make(map[string]chan struct{})
	}
	before = e.last[about]
	e.last[about] = told
	return before
}

func (e *Events) ended(about string, told chan struct{}) {
	close(told)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last[about] == told {
		delete(e.last, about)
	}
}

// emitViolation tells about a request outside the robots.txt, once an hour for each
// crawler and site.
func (g *Guard) emitViolation(r *http.Request, j *Judgement, crawler string) {
	if g.Events == nil || j.Verdict != judge.Disallowed || !g.Events.wanted(eventViolation) {
		return
	}
	suppressed, ok := g.shared.violationEvents.allow(j.Site.Label, crawler)
	if !ok {
		return
	}
	version := ""
	if j.Version != nil {
		version = ledger.Version(j.Version.Hash).String()
	}
	g.Events.Send(eventViolation, map[string]any{
		"site":       j.Site.Label,
		"crawler":    crawler,
		"class":      j.Client.Class.String(),
		"identity":   j.Identity.String(),
		"verdict":    j.Verdict.String(),
		"action":     j.Action.String(),
		"count":      suppressed + 1,
		"rule":       text.Cut(j.Evidence.Rule.String(), maxLoggedTarget),
		"line":       j.Evidence.Rule.Line,
		"group":      text.Cut(j.Evidence.Group.Name, maxLoggedTarget),
		"version":    version,
		"method":     r.Method,
		"uri":        text.Cut(j.Target, maxLoggedTarget),
		"user_agent": text.Cut(request.UserAgentOf(r), maxLoggedUserAgent),
		"client_ip":  request.ClientIP(r),
	})
}

// emitChanged tells that the robots.txt of a configured site has changed.
func (g *Guard) emitChanged(s *request.Site, before, after policy.State) {
	if g.Events == nil || s.Segment != policy.Named || before.Good == nil || !g.Events.wanted(eventChanged) {
		return
	}
	g.Events.Send(eventChanged, map[string]any{
		"site":           s.Label,
		"authority":      s.Key.String(),
		"version":        ledger.Version(after.Good.Hash).String(),
		"before":         ledger.Version(before.Good.Hash).String(),
		"status":         after.Good.Status,
		"rules":          after.Good.Robots.RuleCount(),
		"rules_before":   before.Good.Robots.RuleCount(),
		"findings":       g.shared.Findings(s.Key, after.Good).Total(),
		"allows_all":     !after.Good.Robots.Restricts(),
		"disallows_root": !after.Good.Robots.Select(true).Judge("/").Allowed, // as after a "Disallow: /" from a staging site
	})
}
