package notify

import (
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
)

const (
	maxAttempts   = 5 // attempts for one message
	minRetryDelay = 2 * time.Second
	maxRetryDelay = time.Minute // also if the receiver asks for more
)

// Receiver sends alerts to one destination.
type Receiver struct {
	destination
	settings    deliverySettings
	queue       *queue
	server      string
	pendingList chan alert.List // latest unprocessed list
	lastList    alert.List      // last processed list
	logger      *zap.Logger
	counter     Counter
	now         func() time.Time
	retryDelay  time.Duration // before the second attempt
	lastFailed  bool          // the last message was not accepted
}

// sender sends a message once.
type sender interface {
	// send returns for how long the receiver asks to wait before the next attempt, or
	// [noRetry] if another attempt is of no use. Its errors have no secrets.
	send(ctx context.Context, m Message) (retryAfter time.Duration, err error)
}

// noRetry is the wait of a sender whose next attempt would fail, too.
const noRetry = time.Duration(-1)

// Counter counts messages to receivers. It must be safe for concurrent use.
type Counter interface {
	// CountNotification gets the error of a message after its last attempt, or nil.
	CountNotification(err error)
}

// New returns the receivers of a configuration. history has what receivers were sent under
// configurations before. New fills in placeholders, and sends nothing.
func New(configs []Config, history *History, counter Counter, logger *zap.Logger) ([]*Receiver, error) {
	var receivers []*Receiver
	for _, c := range configs {
		dest, err := c.destination()
		if err != nil {
			return nil, option.WithLine(c.CaddyfileLine, err)
		}
		r := &Receiver{
			destination: dest, pendingList: make(chan alert.List, 1), counter: counter, now: time.Now, retryDelay: minRetryDelay,
			settings: deliverySettings{
				minSeverity: alert.Severity(cmp.Or(c.Severity, string(alert.Warning))),
				wait:        cmp.Or(time.Duration(c.Wait), defaultWait), interval: cmp.Or(time.Duration(c.Interval), defaultInterval),
			},
			logger: logger.With(zap.String("receiver", dest.name)),
		}
		r.server, _ = os.Hostname()
		r.queue = history.queue(r.key())
		receivers = append(receivers, r)
	}
	return receivers, nil
}

// Start sends receivers the changes in each list until ctx ends. The returned function
// accepts a list without blocking.
func Start(ctx context.Context, receivers []*Receiver, history *History) (onList func(alert.List)) {
	var keys []string
	for _, r := range receivers {
		keys = append(keys, r.key())
	}
	history.registerReceivers(ctx, keys)
	for _, r := range receivers {
		r.queue = history.queue(r.key())
		go r.run(ctx)
	}
	return func(list alert.List) {
		for _, r := range receivers {
			r.setPendingList(list)
		}
	}
}

// TestResult is the result of a test message.
type TestResult struct {
	Receiver string `json:"receiver"` // scheme and host of a webhook, else the name of the service
	Sent     bool   `json:"sent"`
	Error    string `json:"error,omitempty"`
}

// Test sends one test message to each receiver without retries. The results have the order of
// the receivers. Test does not affect later messages.
func Test(ctx context.Context, receivers []*Receiver) []TestResult {
	results := make([]TestResult, len(receivers))
	var attempts sync.WaitGroup
	for i, r := range receivers {
		attempts.Go(func() {
			results[i] = TestResult{Receiver: r.name, Sent: true}
			m := Message{Version: 1, Server: r.server, Sent: r.now().UTC(), Test: true, Open: []alert.Alert{}, Over: []alert.Alert{}}
			if _, err := r.send(ctx, m); err != nil {
				results[i] = TestResult{Receiver: r.name, Error: err.Error()}
			}
		})
	}
	attempts.Wait()
	return results
}

// key identifies the receiver.
func (r *Receiver) key() string { return r.url.String() }

// setPendingList passes a list to the receiver's goroutine. It replaces an unprocessed list.
func (r *Receiver) setPendingList(list alert.List) {
	for {
		select {
		case r.pendingList <- list:
			return
		default:
		}
		select {
		case <-r.pendingList:
		default:
		}
	}
}

// run sends messages until ctx ends.
func (r *Receiver) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case r.lastList = <-r.pendingList:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		wait := time.Hour // only another list changes something
		if next := r.sendPending(ctx); !next.IsZero() {
			wait = max(next.Sub(r.now()), time.Millisecond)
		}
		timer.Reset(wait)
	}
}

// sendPending sends the message that is due. It returns the time of the next step, or the zero time
// if only a new list changes the result. If the previous configuration is sending a message,
// step waits and does not repeat its alerts.
func (r *Receiver) sendPending(ctx context.Context) (next time.Time) {
	select {
	case r.queue.busy <- struct{}{}:
		defer func() { <-r.queue.busy }()
	case <-ctx.Done():
		return time.Time{}
	}
	select {
	case r.lastList = <-r.pendingList: // a newer list
	default:
	}
	message, ok, next := r.queue.nextMessage(r.lastList, r.settings, r.now())
	if ok {
		r.deliver(ctx, message, r.lastList)
		_, _, next = r.queue.nextMessage(r.lastList, r.settings, r.now())
	}
	return next
}

// deliver sends a message with retries and records the result.
func (r *Receiver) deliver(ctx context.Context, m Message, list alert.List) {
	m.Server = r.server
	err := r.sendWithRetries(ctx, m)
	switch {
	case ctx.Err() != nil && err != nil: // the next configuration sends the message
	case err != nil:
		r.counter.CountNotification(err)
		r.queue.recordFailure(r.now())
		if !r.lastFailed {
			r.logger.Warn("alerts could not be sent; the next attempt is in 15 minutes", zap.Int("open", len(m.Open)), zap.Int("over", len(m.Over)), zap.Error(err))
		}
		r.lastFailed = true
	default:
		r.counter.CountNotification(nil)
		r.queue.recordDelivered(m, list, r.settings, r.now())
		r.logger.Info("alerts were sent", zap.Int("open", len(m.Open)), zap.Int("over", len(m.Over)))
		r.lastFailed = false
	}
}

// sendWithRetries sends a message up to [maxAttempts] times.
func (r *Receiver) sendWithRetries(ctx context.Context, m Message) error {
	for attempt := 1; ; attempt++ {
		m.Sent = r.now().UTC()
		retryAfter, err := r.send(ctx, m)
		if err == nil || attempt == maxAttempts || retryAfter == noRetry || ctx.Err() != nil {
			return err
		}
		backoff := min(maxRetryDelay, max(retryAfter, r.retryDelay<<(attempt-1)))
		select {
		case <-time.After(backoff + rand.N(backoff/4+1)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
