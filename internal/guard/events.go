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

// These are the names of events.
const (
	eventViolation    = "robots_violation"
	eventChanged      = "robots_changed"
	eventSlowingEnded = "robots_slowing_ended"
)

// eventInterval is the minimum time between two violation events of one crawler at one site.
const eventInterval = time.Hour

// maxQueued is the maximum number of events that wait for the handlers of earlier events. Handlers may
// be slow, for example a webhook. Further events are dropped.
const maxQueued = 1000

// Events emits events to Caddy's events app, one after the other.
type Events struct {
	emit          func(name string, data map[string]any)
	hasSubscriber func(name string) bool
	logger        *zap.Logger

	mu           sync.Mutex
	queuedEvents []event // queuedEvents are the events to emit. The first one is being emitted.
}

type event struct {
	name string
	data map[string]any
}

// NewEvents returns Events that emit to the events app of a configuration. It loads the app.
func NewEvents(ctx caddy.Context, logger *zap.Logger) (*Events, error) {
	app, err := getEventsApp(ctx)
	if err != nil {
		return nil, err
	}
	return &Events{
		emit:          func(name string, data map[string]any) { app.Emit(ctx, name, data) },
		hasSubscriber: app.ShouldEmit,
		logger:        logger,
	}, nil
}

// OnCaddyStarted calls do after all apps of the configuration with this context have started.
func OnCaddyStarted(ctx caddy.Context, do func()) error {
	app, err := getEventsApp(ctx)
	if err != nil {
		return err
	}
	return app.On("started", callbackHandler(do))
}

// callbackHandler is an event handler that calls a function without the event.
type callbackHandler func()

// Handle implements [caddyevents.Handler].
func (do callbackHandler) Handle(context.Context, caddy.Event) error {
	do()
	return nil
}

func getEventsApp(ctx caddy.Context) (*caddyevents.App, error) {
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

// Send queues an event. A goroutine emits the queued events, because event handlers run before Emit
// returns and no request must wait for them. The goroutine ends with the last queued event. After
// the end of the configuration, Caddy calls no more handlers.
func (e *Events) Send(name string, data map[string]any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.queuedEvents) == maxQueued {
		e.logger.Warn("event dropped: the handlers of earlier events take too long", zap.String("event", name))
		return
	}
	if e.queuedEvents = append(e.queuedEvents, event{name, data}); len(e.queuedEvents) == 1 {
		go e.emitQueued(e.queuedEvents[0])
	}
}

// emitQueued emits next, which is the first event of the queue, and then all events queued
// meanwhile.
func (e *Events) emitQueued(next event) {
	for more := true; more; next, more = e.dequeue() {
		e.emit(next.name, next.data)
	}
}

// dequeue removes the first event of the queue and returns the event after it. ok is false if the
// queue is then empty.
func (e *Events) dequeue() (next event, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.queuedEvents = e.queuedEvents[1:]; len(e.queuedEvents) == 0 {
		e.queuedEvents = nil // This lets the garbage collector free the array.
		return next, false
	}
	return e.queuedEvents[0], true
}

// emitViolation emits an event about a violation, at most once an hour for each crawler and site.
func (g *Guard) emitViolation(r *http.Request, j *Judgement, crawler string) {
	if g.Events == nil || j.Verdict != judge.Disallowed || !g.Events.hasSubscriber(eventViolation) {
		return
	}
	suppressed, ok := g.state.violationEvents.allowMessage(j.Site.Label, crawler)
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
		"identity":   j.Verification.String(),
		"verdict":    j.Verdict.String(),
		"action":     j.Action.String(),
		"count":      suppressed + 1,
		"rule":       text.Truncate(j.RobotsVerdict.Rule.String(), maxLoggedTarget),
		"line":       j.RobotsVerdict.Rule.Line,
		"group":      text.Truncate(j.RobotsVerdict.Group.Name, maxLoggedTarget),
		"version":    version,
		"method":     r.Method,
		"uri":        text.Truncate(j.Target, maxLoggedTarget),
		"user_agent": text.Truncate(site.RequestUserAgent(r), maxLoggedUserAgent),
		"client_ip":  site.ClientIP(r),
	})
}

// emitRobotsChanged emits an event about a changed robots.txt, unless the file belongs to an
// unknown host.
func (g *Guard) emitRobotsChanged(s *site.Site, before, after policy.State) {
	if g.Events == nil || s.CacheSegment != policy.ConfiguredHosts || before.Current == nil || !g.Events.hasSubscriber(eventChanged) {
		return
	}
	g.Events.Send(eventChanged, map[string]any{
		"site":         s.Label,
		"authority":    s.Key.String(),
		"version":      ledger.Version(after.Current.Hash).String(),
		"before":       ledger.Version(before.Current.Hash).String(),
		"status":       after.Current.Status,
		"rules":        after.Current.Robots.RuleCount(),
		"rules_before": before.Current.Robots.RuleCount(),
		"findings":     g.state.LintFindings(s.Key, after.Current).TotalCount(),
		"allows_all":   !after.Current.Robots.Restricts(),
		// This happens after a "Disallow: /" from a staging site.
		"disallows_root": !after.Current.Robots.Select(true).Judge("/").Allowed,
	})
}

// eventChange is the prefix of events about changes of robots_txt. The state of the change follows
// it.
const eventChange = "robots_change_"

// changeEventObserver observes changes of robots_txt. It notifies another observer and then emits
// an event.
type changeEventObserver struct {
	publish.Observer
	*Events
}

// WrapObserver returns an observer of robots_txt changes that notifies o and then emits events.
func (e *Events) WrapObserver(o publish.Observer) publish.Observer { return changeEventObserver{o, e} }

// OnChangeState implements publish.Observer.
func (c changeEventObserver) OnChangeState(site string, change publish.Change) {
	c.Observer.OnChangeState(site, change)
	name := eventChange + string(change.State)
	if !c.hasSubscriber(name) {
		return
	}
	by := change.Submitted
	for _, later := range []*publish.Decision{change.ConfirmedBy, change.PromotedBy, change.EndedBy} {
		if later != nil && !later.At.Before(by.At) {
			by = *later
		}
	}
	c.Send(name, map[string]any{
		"site":       site,
		"state":      string(change.State),
		"change":     change.ID,
		"origin":     string(change.Origin),
		"who":        by.User,
		"why":        by.Reason,
		"ticket":     by.Ticket,
		"reasons":    strings.Join(change.Reasons, "; "),
		"difference": strings.Join(change.Difference, "\n"),
	})
}

// eventParity is the event for the start and the end of an alert about a crawler without access to
// allowed pages.
const eventParity = "robots_parity"

// sentAuditEvents has the last emitted state of each response-audit alert. It survives a reload.
// The zero value is empty.
type sentAuditEvents struct {
	mu     sync.Mutex
	states map[string]alert.State // The key is the ID of a finding. The value is the state of the alert about it.
}

// takeChangedAlerts returns the response-audit alerts that have begun or ended since the last call.
func (s *sentAuditEvents) takeChangedAlerts(alerts []alert.Alert) (news []alert.Alert) {
	s.mu.Lock()
	defer s.mu.Unlock()
	states := make(map[string]alert.State)
	for _, a := range alerts {
		if !slices.Contains(responseaudit.FindingKinds(), responseaudit.FindingKind(a.Kind)) {
			continue
		}
		before, known := s.states[a.ID]
		states[a.ID] = a.State
		if isOver := a.State == alert.Over; known && isOver != (before == alert.Over) || !known && !isOver {
			news = append(news, a)
		}
	}
	s.states = states
	return news
}

// EmitAuditEvents emits an event when a response-audit alert begins or ends, until ctx ends. All
// apps must have started, because until then the events app adds subscriptions without a lock.
func (s *State) EmitAuditEvents(ctx context.Context, events *Events) {
	for {
		alerts, updated := s.Alerts.Latest()
		s.emitAlertEvents(events, alerts)
		select {
		case <-updated:
		case <-ctx.Done():
			return
		}
	}
}

// emitAlertEvents emits an event for each response-audit alert that has begun or ended.
func (s *State) emitAlertEvents(events *Events, alerts []alert.Alert) {
	if !events.hasSubscriber(eventParity) {
		return
	}
	for _, a := range s.sentAuditEvents.takeChangedAlerts(alerts) {
		events.Send(eventParity, map[string]any{
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
}
