package guard

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// The names of events.
const (
	eventViolation    = "robots_violation"
	eventChanged      = "robots_changed"
	eventSlowingEnded = "robots_slowing_ended"
)

// eventInterval is the minimum time between two violation events of one crawler at one site.
const eventInterval = time.Hour

// maxEmitting is the maximum number of concurrent events. Their handlers may be slow, for example a
// webhook. Further events are dropped.
const maxEmitting = 8

// Events emits events to Caddy's events app.
type Events struct {
	emit     func(name string, data map[string]any)
	wanted   func(name string) bool
	emitting chan struct{}
	logger   *zap.Logger

	mu   sync.Mutex
	last map[string]chan struct{} // by subject; closed after its last event in progress
}

// NewEvents returns the events of a configuration. It loads the events app.
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

// OnceStarted calls do after all apps of a configuration have started. ctx is the context of the
// provisioning.
func OnceStarted(ctx caddy.Context, do func()) error {
	app, err := eventsApp(ctx)
	if err != nil {
		return err
	}
	return app.On("started", handler(do))
}

// handler is an event handler that ignores the event.
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

// Send emits an event in a goroutine, because event handlers run before Emit returns and no request
// must wait for them. The goroutine ends with the last handler. After the end of the configuration,
// Caddy calls no more handlers. Events about the same site and crawler stay in order.
func (e *Events) Send(name string, data map[string]any) {
	select {
	case e.emitting <- struct{}{}:
	default:
		e.logger.Warn("event dropped: the handlers of earlier events take too long", zap.String("event", name))
		return
	}
	subject, done := fmt.Sprint(data["site"], " ", data["crawler"]), make(chan struct{})
	previous := e.inTurn(subject, done)
	go func() {
		defer func() { <-e.emitting }()
		if previous != nil {
			<-previous
		}
		e.emit(name, data)
		e.ended(subject, done)
	}()
}

// inTurn returns a channel closed after the previous event with the same subject, or nil.
func (e *Events) inTurn(subject string, done chan struct{}) (previous <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last == nil {
		e.last = make(map[string]chan struct{})
	}
	previous = e.last[subject]
	e.last[subject] = done
	return previous
}

func (e *Events) ended(subject string, done chan struct{}) {
	close(done)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last[subject] == done {
		delete(e.last, subject)
	}
}

// emitViolation emits an event about a violation, at most once an hour for each crawler and site.
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
		"rule":       text.Truncate(j.RobotsVerdict.Rule.String(), maxLoggedTarget),
		"line":       j.RobotsVerdict.Rule.Line,
		"group":      text.Truncate(j.RobotsVerdict.Group.Name, maxLoggedTarget),
		"version":    version,
		"method":     r.Method,
		"uri":        text.Truncate(j.Target, maxLoggedTarget),
		"user_agent": text.Truncate(site.UserAgentOf(r), maxLoggedUserAgent),
		"client_ip":  site.ClientIP(r),
	})
}

// emitChanged emits an event about a changed robots.txt of a configured site.
func (g *Guard) emitChanged(s *site.Site, before, after policy.State) {
	if g.Events == nil || s.Segment != policy.ConfiguredHosts || before.Current == nil || !g.Events.wanted(eventChanged) {
		return
	}
	g.Events.Send(eventChanged, map[string]any{
		"site":           s.Label,
		"authority":      s.Key.String(),
		"version":        ledger.Version(after.Current.Hash).String(),
		"before":         ledger.Version(before.Current.Hash).String(),
		"status":         after.Current.Status,
		"rules":          after.Current.Robots.RuleCount(),
		"rules_before":   before.Current.Robots.RuleCount(),
		"findings":       g.shared.Findings(s.Key, after.Current).Total(),
		"allows_all":     !after.Current.Robots.Restricts(),
		"disallows_root": !after.Current.Robots.Select(true).Judge("/").Allowed, // as after a "Disallow: /" from a staging site
	})
}

// eventChange is the prefix of events about changes of robots_txt. The state follows.
const eventChange = "robots_change_"

// changeEvents notifies another observer and then emits an event.
type changeEvents struct {
	publish.Observer
	*Events
}

// TellChanges returns an observer that notifies o and then emits events.
func (e *Events) TellChanges(o publish.Observer) publish.Observer { return changeEvents{o, e} }

// Changed implements publish.Observer.
func (c changeEvents) Changed(site string, change publish.Change) {
	c.Observer.Changed(site, change)
	name := eventChange + string(change.State)
	if !c.wanted(name) {
		return
	}
	by := change.Made
	for _, later := range []*publish.By{change.Confirmed, change.Promoted, change.Ended} {
		if later != nil && !later.At.Before(by.At) {
			by = *later
		}
	}
	c.Send(name, map[string]any{
		"site":       site,
		"state":      string(change.State),
		"change":     change.ID,
		"origin":     string(change.Origin),
		"who":        by.Who,
		"why":        by.Why,
		"ticket":     by.Ticket,
		"reasons":    strings.Join(change.Reasons, "; "),
		"difference": strings.Join(change.Difference, "\n"),
	})
}

// eventParity is the event for the start and the end of an alert about a crawler without access to
// allowed pages.
const eventParity = "robots_parity"

// parityTold has the alerts already sent as events. It survives a reload and has at most as many
// entries as there are alerts. The zero value is empty.
type parityTold struct {
	mu   sync.Mutex
	told map[string]alert.State // by ID
}

// news reports whether an alert has begun or ended since its last event.
func (t *parityTold) news(a *alert.Alert) bool {
	state := a.State
	if state == alert.Acknowledged {
		state = alert.Open
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before, known := t.told[a.ID]
	if before == state || !known && state == alert.Over {
		return false
	}
	if t.told == nil {
		t.told = make(map[string]alert.State)
	}
	t.told[a.ID] = state
	return true
}

// keep drops all alerts that are not in a list.
func (t *parityTold) keep(alerts []alert.Alert) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.told {
		if !slices.ContainsFunc(alerts, func(a alert.Alert) bool { return a.ID == id }) {
			delete(t.told, id)
		}
	}
}

// WatchParity emits events about the response audit until ctx ends. The apps must have started,
// because the events app adds subscriptions without a lock before that.
func (g *Guard) WatchParity(ctx context.Context) {
	for {
		alerts, updated := g.shared.Alerts.Latest()
		g.tellParity(alerts)
		select {
		case <-updated:
		case <-ctx.Done():
			return
		}
	}
}

// tellParity emits an event for each response-audit alert of this guard's sites that has started or
// ended.
func (g *Guard) tellParity(alerts []alert.Alert) {
	if !g.Events.wanted(eventParity) {
		return
	}
	for i := range alerts {
		a := &alerts[i]
		if !slices.Contains(responseaudit.FindingKinds(), responseaudit.FindingKind(a.Kind)) {
			continue
		}
		if !g.judgesFor(a.Site) || !g.shared.parityTold.news(a) {
			continue
		}
		g.Events.Send(eventParity, map[string]any{
			"site":     a.Site,
			"crawler":  a.Crawler,
			"finding":  string(a.Kind),
			"severity": string(a.Severity),
			"over":     a.State == alert.Over,
			"since":    a.Since.Format(time.RFC3339),
			"title":    a.Title,
			"detail":   a.Detail,
		})
	}
	g.shared.parityTold.keep(alerts)
}
