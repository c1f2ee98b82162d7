package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/retryafter"
)

const (
	requestTimeout = 10 * time.Second
	maxAttempts    = 5 // of one message
	firstRetry     = 2 * time.Second
	maxRetry       = time.Minute // also where the receiver asks for more
	maxAnswer      = 4 << 10     // bytes that are read of an answer
)

// The headers of a signed message, see [Sign].
const (
	TimestampHeader = "X-Robots-Guard-Timestamp"
	SignatureHeader = "X-Robots-Guard-Signature"
)

// Sign returns the signature of a body that is sent at a time, in Unix seconds: "v1="
// and the HMAC-SHA256 of the time, a dot and the body, in hexadecimal. A receiver
// compares it in constant time, and refuses what is older than some minutes.
func Sign(secret string, timestamp int64, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", timestamp, body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// Receiver tells one receiver.
type Receiver struct {
	target
	terms  terms
	group  *group
	server string
	client *http.Client
	lists  chan alert.List // the latest, if it was not looked at yet
	list   alert.List      // that was looked at last
	logger *zap.Logger
	counts Counter
	now    func() time.Time
	retry  time.Duration // before the second attempt
	failed bool          // the last message was not taken
}

// Counter counts messages to receivers. Its methods may be called by several
// goroutines at once.
type Counter interface {
	// Notified is told what came of a message after its last attempt.
	Notified(err error)
}

// New returns the receivers of a configuration, of which told remembers what they
// were told by those before. It fills in placeholders, and tells nobody anything.
func New(all []Config, told *Told, counts Counter, logger *zap.Logger) ([]*Receiver, error) {
	var receivers []*Receiver
	for _, c := range all {
		t, err := c.target()
		if err != nil {
			return nil, c.At(err)
		}
		r := &Receiver{
			target: t, lists: make(chan alert.List, 1), counts: counts, now: time.Now, retry: firstRetry,
			terms: terms{
				least: alert.Severity(cmp.Or(c.Severity, string(alert.Warning))),
				wait:  cmp.Or(time.Duration(c.Wait), defaultWait), interval: cmp.Or(time.Duration(c.Interval), defaultInterval),
			},
			// What stands behind the host may be a secret.
			logger: logger.With(zap.String("receiver", t.url.Scheme+"://"+t.url.Host)),
		}
		r.server, _ = os.Hostname()
		r.client = &http.Client{
			Timeout: requestTimeout,
			// What is signed for one receiver is not for others.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		r.group = told.group(r.key())
		receivers = append(receivers, r)
	}
	return receivers, nil
}

// Start tells receivers what each list has that is new, until ctx ends. The function
// takes a list and waits for nobody.
func Start(ctx context.Context, receivers []*Receiver, told *Told) (tell func(alert.List)) {
	var keys []string
	for _, r := range receivers {
		keys = append(keys, r.key())
	}
	told.use(ctx, keys)
	for _, r := range receivers {
		r.group = told.group(r.key())
		go r.run(ctx)
	}
	return func(list alert.List) {
		for _, r := range receivers {
			r.tell(list)
		}
	}
}

// key tells the receiver from others.
func (r *Receiver) key() string { return r.url.String() + r.topic }

// tell hands a list to the goroutine of the receiver, in place of one that it has
// not looked at.
func (r *Receiver) tell(list alert.List) {
	for {
		select {
		case r.lists <- list:
			return
		default:
		}
		select {
		case <-r.lists:
		default:
		}
	}
}

// run tells the receiver until ctx ends.
func (r *Receiver) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case r.list = <-r.lists:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		wait := time.Hour // something else will come
		if next := r.step(ctx); !next.IsZero() {
			wait = max(next.Sub(r.now()), time.Millisecond)
		}
		timer.Reset(wait)
	}
}

// step tells what is due, and returns when to look again, the zero time for when something
// has changed. The configuration before may be telling the same: that counts as told then.
func (r *Receiver) step(ctx context.Context) (next time.Time) {
	select {
	case r.group.busy <- struct{}{}:
		defer func() { <-r.group.busy }()
	case <-ctx.Done():
		return time.Time{}
	}
	select {
	case r.list = <-r.lists: // which has come meanwhile
	default:
	}
	m, ok, next := r.group.due(r.list, r.terms, r.now())
	if ok {
		r.deliver(ctx, m, r.list)
		_, _, next = r.group.due(r.list, r.terms, r.now())
	}
	return next
}

// deliver sends a message, again where that fails, and notes what came of it.
func (r *Receiver) deliver(ctx context.Context, m Message, list alert.List) {
	m.Server = r.server
	body, err := encode(r.format(m, r.topic))
	for attempt := 1; err == nil; attempt++ {
		var after time.Duration
		if after, err = r.send(ctx, body); err == nil {
			break
		}
		if attempt == maxAttempts || after < 0 || ctx.Err() != nil {
			break
		}
		backoff := min(maxRetry, max(after, r.retry<<(attempt-1)))
		err = nil
		select {
		case <-time.After(backoff + rand.N(backoff/4+1)):
		case <-ctx.Done():
			return // whoever comes next will tell
		}
	}
	switch {
	case ctx.Err() != nil && err != nil:
	case err != nil:
		r.counts.Notified(err)
		r.group.failed(r.now())
		if !r.failed {
			r.logger.Warn("alerts cannot be told; it is tried again every 15 minutes", zap.Int("open", len(m.Open)), zap.Int("over", len(m.Over)), zap.Error(err))
		}
		r.failed = true
	default:
		r.counts.Notified(nil)
		r.group.delivered(m, list, r.terms, r.now())
		r.logger.Info("alerts were told", zap.Int("open", len(m.Open)), zap.Int("over", len(m.Over)))
		r.failed = false
	}
}

// send makes one attempt. Where that fails it returns for how long the receiver asks
// to wait, and less than 0 if there is no use in another attempt.
func (r *Receiver) send(ctx context.Context, body []byte) (after time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url.String(), bytes.NewReader(body))
	if err != nil {
		return -1, withoutURL(err)
	}
	request.Header = r.header()
	if r.secret != "" {
		now := r.now().Unix()
		request.Header.Set(TimestampHeader, strconv.FormatInt(now, 10))
		request.Header.Set(SignatureHeader, Sign(r.secret, now, body))
	}
	response, err := r.client.Do(request)
	if err != nil {
		return 0, withoutURL(err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, maxAnswer) // so that the connection can be used again
	switch status := response.StatusCode; {
	case status >= 200 && status < 300:
		return 0, nil
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status >= 500:
		return retryafter.Of(response.Header, r.now()), fmt.Errorf("the receiver answers status %d", status)
	case status >= 300 && status < 400:
		return -1, fmt.Errorf("the receiver answers status %d, and redirects are not followed; write the URL that it leads to", status)
	default:
		return -1, fmt.Errorf("the receiver answers status %d; see whether URL, token and format are right", status)
	}
}

// withoutURL returns an error without the URL, which may be a secret.
func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
