package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// alertsOf returns alerts from words such as "a:critical:open".
func alertsOf(words ...string) (alerts []alert.Alert) {
	for _, word := range words {
		part := strings.Split(word, ":")
		alerts = append(alerts, alert.Alert{ID: part[0], Title: part[0], Severity: alert.Severity(part[1]), State: alert.State(part[2])})
	}
	return alerts
}

func newQueue() *deliveryQueue {
	return new(DeliveryHistory).getOrCreateQueues([]string{"x"})[0]
}

// String returns the IDs of the alerts to send.
func (p pendingAlerts) String() (s string) {
	for _, a := range p.opened {
		s += "+" + a.ID
	}
	for _, a := range p.ended {
		s += "-" + a.ID
	}
	return s
}

// TestQueue follows what a receiver is sent, minute by minute.
func TestQueue(t *testing.T) {
	by := deliverySettings{minSeverity: alert.Warning, wait: 2 * time.Minute, interval: 10 * time.Minute}
	type step struct {
		minute int
		list   string
		want   string // is sent
	}
	for name, steps := range map[string][]step{
		"one alert, and its end":    {{0, "a:critical:open", ""}, {2, "a:critical:open", "+a"}, {60, "a:critical:open", ""}, {61, "a:critical:over", ""}, {63, "a:critical:over", "-a"}, {90, "", ""}},
		"its end, when it is gone":  {{0, "a:critical:open", ""}, {2, "a:critical:open", "+a"}, {30, "", ""}, {33, "", "-a"}, {90, "", ""}},
		"over before it is sent":    {{0, "a:critical:open", ""}, {1, "a:critical:over", ""}, {30, "", ""}},
		"acknowledged before":       {{0, "a:critical:open", ""}, {1, "a:critical:acknowledged", ""}, {30, "a:critical:acknowledged", ""}, {31, "a:critical:over", ""}, {60, "a:critical:over", ""}},
		"acknowledged later":        {{0, "a:critical:open", ""}, {2, "a:critical:open", "+a"}, {30, "a:critical:acknowledged", ""}, {60, "a:critical:over", ""}, {62, "a:critical:over", "-a"}},
		"acknowledged, then open":   {{0, "a:critical:acknowledged", ""}, {30, "a:critical:open", ""}, {32, "a:critical:open", "+a"}},
		"not severe enough":         {{0, "a:info:open", ""}, {30, "a:info:open", ""}},
		"together":                  {{0, "a:critical:open", ""}, {1, "a:critical:open b:warning:open", ""}, {2, "a:critical:open b:warning:open", "+a+b"}},
		"not too often":             {{0, "a:critical:open", ""}, {2, "a:critical:open", "+a"}, {3, "a:critical:open b:critical:open", ""}, {11, "a:critical:open b:critical:open", ""}, {12, "a:critical:over b:critical:open", "+b-a"}},
		"comes back":                {{0, "a:critical:open", ""}, {2, "a:critical:open", "+a"}, {20, "a:critical:over", ""}, {22, "a:critical:over", "-a"}, {40, "a:critical:open", ""}, {42, "a:critical:open", "+a"}},
		"comes back before its end": {{0, "a:critical:open", ""}, {2, "a:critical:open", "+a"}, {20, "a:critical:over", ""}, {21, "a:critical:open", ""}, {40, "a:critical:open", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue()
			for _, s := range steps {
				now, got := start.Add(time.Duration(s.minute)*time.Minute), ""
				p, ok, next := q.nextToSend(alertsOf(strings.Fields(s.list)...), by, now)
				if ok {
					got = p.String()
				}
				if got != s.want {
					t.Errorf("minute %d: %q, want %q", s.minute, got, s.want)
				}
				if ok {
					q.recordSent(p, now)
				} else if !next.IsZero() && !next.After(now) {
					t.Errorf("minute %d: to be asked again at %v", s.minute, next)
				}
			}
		})
	}
}

// TestEndOfAlert reports the time at which an alert ended, which is earlier than the message.
func TestEndOfAlert(t *testing.T) {
	now, ended := start.Add(time.Hour), start.Add(30*time.Minute)
	for _, tc := range []struct {
		name string
		list string
		end  time.Time // of the listed alert
		want time.Time
	}{
		{"listed as over", "a:critical:over", ended, ended},
		{"listed as over without an end", "a:critical:over", time.Time{}, now},
		{"not listed", "", time.Time{}, now},
	} {
		t.Run(tc.name, func(t *testing.T) {
			q := newQueue()
			p, _, _ := q.nextToSend(alertsOf("a:critical:open"), deliverySettings{minSeverity: alert.Info}, start)
			q.recordSent(p, start)
			listed := alertsOf(strings.Fields(tc.list)...)
			for i := range listed {
				listed[i].Until = tc.end
			}
			p, _, _ = q.nextToSend(listed, deliverySettings{minSeverity: alert.Info}, now)
			if len(p.ended) != 1 || p.ended[0].State != alert.Over || !p.ended[0].Until.Equal(tc.want) {
				t.Errorf("got %+v, want an end at %s", p.ended, tc.want)
			}
		})
	}
}

// TestQueueFails is tried again later, with what is so then.
func TestQueueFails(t *testing.T) {
	by := deliverySettings{minSeverity: alert.Info, wait: time.Second, interval: time.Second}
	q := newQueue()
	alerts := alertsOf("a:info:open")
	q.nextToSend(alerts, by, start)
	now := start.Add(time.Second)
	if _, ok, _ := q.nextToSend(alerts, by, now); !ok {
		t.Fatal("nothing is sent")
	}
	q.recordFailure(now)
	if _, ok, next := q.nextToSend(alerts, by, now); ok || !next.Equal(now.Add(failurePause)) {
		t.Errorf("sent %t, next %v", ok, next)
	}
	if p, ok, _ := q.nextToSend(alertsOf("b:info:open"), by, now.Add(failurePause)); ok {
		t.Errorf("a new one waits for others, but %v is sent", p)
	}
	if p, ok, _ := q.nextToSend(alertsOf("b:info:open"), by, now.Add(2*failurePause)); !ok || p.String() != "+b" {
		t.Errorf("%v", p)
	}
}

// TestIntervalOfReload applies a new interval to the message after a reload. The pause after a failure
// stays.
func TestIntervalOfReload(t *testing.T) {
	before := deliverySettings{minSeverity: alert.Info, interval: 24 * time.Hour}
	after := deliverySettings{minSeverity: alert.Info, interval: 5 * time.Minute}
	q := newQueue()
	p, _, _ := q.nextToSend(alertsOf("a:critical:open"), before, start)
	q.recordSent(p, start)
	alerts, now := alertsOf("a:critical:open", "b:critical:open"), start.Add(time.Minute)
	if _, ok, next := q.nextToSend(alerts, before, now); ok || !next.Equal(start.Add(before.interval)) {
		t.Errorf("before the reload: sent %t, next %v", ok, next)
	}
	if _, ok, next := q.nextToSend(alerts, after, now); ok || !next.Equal(start.Add(after.interval)) {
		t.Errorf("after the reload: sent %t, next %v", ok, next)
	}
	now = start.Add(after.interval)
	if p, ok, _ := q.nextToSend(alerts, after, now); !ok || p.String() != "+b" {
		t.Errorf("after the interval: sent %t, %v", ok, p)
	}
	q.recordFailure(now)
	if _, ok, next := q.nextToSend(alerts, after, now); ok || !next.Equal(now.Add(failurePause)) {
		t.Errorf("after a failure: sent %t, next %v", ok, next)
	}
}

// TestMessageIsBounded lists some alerts and counts the rest.
func TestMessageIsBounded(t *testing.T) {
	by := deliverySettings{minSeverity: alert.Info}
	q := newQueue()
	var words []string
	for i := range 50 {
		words = append(words, fmt.Sprintf("%d:info:open", i))
	}
	p, ok, _ := q.nextToSend(alertsOf(words...), by, start)
	if m := newMessage("", p); !ok || len(m.OpenAlerts) != maxAlertsPerMessage || m.OmittedCount != 30 {
		t.Fatalf("%d are sent and %d more", len(m.OpenAlerts), m.OmittedCount)
	}
	q.recordSent(p, start)
	if _, ok, _ := q.nextToSend(alertsOf(words...), by, start.Add(time.Hour)); ok {
		t.Error("the rest is sent later, although the receiver knows of it")
	}
	p, _, _ = q.nextToSend(nil, by, start.Add(time.Hour))
	if m := newMessage("", p); len(m.EndedAlerts) != maxAlertsPerMessage || m.OmittedCount != 30 {
		t.Errorf("%d ends are sent and %d more", len(m.EndedAlerts), m.OmittedCount)
	}
}
