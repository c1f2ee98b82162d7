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
	maxAttempts   = 5 // maxAttempts is the maximum number of attempts for one message.
	minRetryDelay = 2 * time.Second
	// maxRetryDelay limits the delay even if the receiver asks for a longer one. The delay before
	// an attempt is up to a quarter longer, at random.
	maxRetryDelay = time.Minute
)

// Receiver sends alerts to one destination.
type Receiver struct {
	destination
	settings   deliverySettings
	queue      *deliveryQueue // queue is set by [StartReceivers].
	server     string
	logger     *zap.Logger
	counter    DeliveryCounter
	retryDelay time.Duration // retryDelay is the delay before the second attempt.
	lastFailed bool          // lastFailed is true if the last message was not accepted.
}

// sender sends messages to a webhook or a service.
type sender interface {
	// send makes one attempt to send a message. If it fails, retryAfter is the time that the
	// receiver wants to pass before the next attempt, or [noRetry] if another attempt would fail,
	// too. Errors contain no secrets.
	send(ctx context.Context, m Message) (retryAfter time.Duration, err error)
}

// noRetry is the wait if another attempt would fail, too.
const noRetry = time.Duration(-1)

// DeliveryCounter counts messages to receivers. It must be safe for concurrent use.
type DeliveryCounter interface {
	// CountNotification counts a message after its last attempt. err is nil if the receiver
	// accepted the message.
	CountNotification(err error)
}

// NewReceivers returns the receivers of a configuration. It replaces placeholders, and sends
// nothing.
func NewReceivers(configs []ReceiverConfig, counter DeliveryCounter, logger *zap.Logger) ([]*Receiver, error) {
	var receivers []*Receiver
	server, _ := os.Hostname()
	for _, c := range configs {
		dest, err := c.resolveDestination()
		if err != nil {
			return nil, option.AddCaddyfileLine(c.CaddyfileLine, err)
		}
		receivers = append(receivers, &Receiver{
			destination: dest, server: server, counter: counter, retryDelay: minRetryDelay,
			settings: deliverySettings{
				minSeverity: alert.Severity(cmp.Or(c.Severity, string(alert.Warning))),
				wait:        cmp.Or(time.Duration(c.Wait), defaultWait), interval: cmp.Or(time.Duration(c.Interval), defaultInterval),
			},
			logger: logger.With(zap.String("receiver", dest.name)),
		})
	}
	return receivers, nil
}

// AlertSource provides the alerts. [alert.Manager] implements it.
type AlertSource interface {
	// Latest returns the alerts as of the last update. The next update closes updated.
	Latest() (alerts []alert.Alert, updated <-chan struct{})
}

// StartReceivers starts to send new and ended alerts to receivers, until ctx ends. history has the
// alerts that previous configurations sent.
func StartReceivers(ctx context.Context, receivers []*Receiver, history *DeliveryHistory, source AlertSource) {
	var keys []string
	for _, r := range receivers {
		keys = append(keys, receiverKey(r.url.String()))
	}
	queues := history.getOrCreateQueues(keys)
	for i, r := range receivers {
		r.queue = queues[i]
		go r.run(ctx, source)
	}
}

// TestResult is the result of a test message to one receiver.
type TestResult struct {
	Receiver string `json:"receiver"` // Receiver is the scheme and host of a webhook, or the name of a service.
	Sent     bool   `json:"sent"`
	Error    string `json:"error,omitempty"`
}

// SendTestMessages sends a test message to each receiver, without retries. The results have the
// order of the receivers. Later messages are not affected.
func SendTestMessages(ctx context.Context, receivers []*Receiver) []TestResult {
	results := make([]TestResult, len(receivers))
	var attempts sync.WaitGroup
	for i, r := range receivers {
		attempts.Go(func() {
			results[i] = TestResult{Receiver: r.name, Sent: true}
			m := newMessage(r.server, pendingAlerts{})
			m.Sent, m.IsTest = time.Now().UTC(), true
			if _, err := r.send(ctx, m); err != nil {
				results[i] = TestResult{Receiver: r.name, Error: err.Error()}
			}
		})
	}
	attempts.Wait()
	return results
}

// run sends the receiver's messages until ctx ends.
func (r *Receiver) run(ctx context.Context, source AlertSource) {
	for {
		select {
		case r.queue.sendLock <- struct{}{}: // This waits until the previous configuration has sent its message.
		case <-ctx.Done():
			return
		}
		alerts, updated := source.Latest()
		next := r.sendPending(ctx, alerts)
		<-r.queue.sendLock
		var due <-chan time.Time
		if !next.IsZero() {
			due = time.After(time.Until(next))
		}
		select {
		case <-updated:
		case <-due:
		case <-ctx.Done():
			return
		}
	}
}

// sendPending sends a message if one is due. sendPending returns the time at which to call it
// again, or zero if only an update of the alerts makes a message due.
func (r *Receiver) sendPending(ctx context.Context, alerts []alert.Alert) (next time.Time) {
	p, ok, next := r.queue.nextToSend(alerts, r.settings, time.Now())
	if ok {
		r.deliver(ctx, p)
		_, _, next = r.queue.nextToSend(alerts, r.settings, time.Now())
	}
	return next
}

// deliver sends a message with retries, and records the result.
func (r *Receiver) deliver(ctx context.Context, p pendingAlerts) {
	m := newMessage(r.server, p)
	err := r.sendWithRetries(ctx, m)
	if err != nil && ctx.Err() != nil {
		return // The next configuration sends the message.
	}
	r.counter.CountNotification(err)
	counts := []zap.Field{zap.Int("open", len(m.OpenAlerts)), zap.Int("over", len(m.EndedAlerts))}
	if err == nil {
		r.queue.recordSent(p, time.Now())
		r.logger.Info("alerts were sent", counts...)
	} else {
		r.queue.recordFailure(time.Now())
		if !r.lastFailed {
			r.logger.Warn("alerts could not be sent; the next attempt is in 15 minutes", append(counts, zap.Error(err))...)
		}
	}
	r.lastFailed = err != nil
}

// sendWithRetries makes up to [maxAttempts] attempts to send a message.
func (r *Receiver) sendWithRetries(ctx context.Context, m Message) error {
	for attempt := 1; ; attempt++ {
		m.Sent = time.Now().UTC()
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
