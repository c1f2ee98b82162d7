package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// listOf returns a list from words such as "a:critical:open".
func listOf(words ...string) (list alert.List) {
	for _, word := range words {
		part := strings.Split(word, ":")
		list.Alerts = append(list.Alerts, alert.Alert{ID: part[0], Title: part[0], Severity: alert.Severity(part[1]), State: alert.State(part[2])})
	}
	return list
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
		"one alert, and its end":     {{0, "a:critical:open", ""}, {2, "a:critical:open", "+a"}, {60, "a:critical:open", ""}, {61, "a:critical:over", ""}, {63, "a:critical:over", "-a"}, {90, "", ""}},
		"its end, when it is gone":   {{0, "a:critical:open", ""}, {2, "a:critical:open", "+a"}, {30, "", ""}, {33, "", "-a"}, {90, "", ""}},
		"over before it is sent":     {{0, "a:critical:open", ""}, {1, "a:critical:over", ""}, {30, "", ""}},
		"acknowledged before":        {{0, "a:critical:open", ""}, {1, "a:critical:acknowledged", ""}, {30, "a:critical:acknowledged", ""}, {31, "a:critical:over", ""}, {60, "a:critical:over", ""}},
		"acknowledged later":         {{0, "a:critical:open", ""}, {2, "a:critical:open", "+a"}, {30, "a:critical:acknowledged", ""}, {60, "a:critical:over", ""}, {62, "a:critical:over", "-a"}},
		"acknowledged, then open":    {{0, "a:critical:acknowledged", ""}, {30, "a:critical:open", ""}, {32, "a:critical:open", "+a"}},
		"not severe enough":          {{0, "a:info:open", ""}, {30, "a:info:open", ""}},
		"together":                   {{0, "a:critical:open", ""}, {1, "a:critical:open b:warning:open", ""}, {2, "a:critical:open b:warning:open", "+a+b"}},
		"not too often":              {{0, "a:critical:open", ""}, {2, "a:critical:open", "+a"}, {3, "a:critical:open b:critical:open", ""}, {11, "a:critical:open b:critical:open", ""}, {12, "a:critical:over b:critical:open", "+b-a"}},
		"comes back":                 {{0, "a:critical:open", ""}, {2, "a:critical:open", "+a"}, {20, "a:critical:over", ""}, {22, "a:critical:over", "-a"}, {40, "a:critical:open", ""}, {42, "a:critical:open", "+a"}},
		"comes back before its end":  {{0, "a:critical:open", ""}, {2, "a:critical:open", "+a"}, {20, "a:critical:over", ""}, {21, "a:critical:open", ""}, {40, "a:critical:open", ""}},
		"left out of a list for now": {{0, "a:warning:open", ""}, {2, "a:warning:open", "+a"}, {20, "more", ""}, {60, "more", ""}, {61, "a:warning:over more", ""}, {63, "a:warning:over more", "-a"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := new(History).queue("x")
			for _, s := range steps {
				words := strings.Fields(s.list)
				more := 0
				if n := len(words); n > 0 && words[n-1] == "more" {
					words, more = words[:n-1], 1
				}
				list, now := listOf(words...), start.Add(time.Duration(s.minute)*time.Minute)
				list.More = more
				m, ok, next := g.nextMessage(list, by, now)
				var got string
				for _, a := range m.Open {
					got += "+" + a.ID
				}
				for _, a := range m.Over {
					got += "-" + a.ID
				}
				if got != s.want || ok != (s.want != "") {
					t.Errorf("minute %d: %q, want %q", s.minute, got, s.want)
				}
				if ok {
					g.recordDelivered(m, list, by, now)
				} else if !next.IsZero() && !next.After(now) {
					t.Errorf("minute %d: to be asked again at %v", s.minute, next)
				}
			}
		})
	}
}

// TestQueueFails is tried again later, with what is so then.
func TestQueueFails(t *testing.T) {
	by := deliverySettings{minSeverity: alert.Info, wait: time.Second, interval: time.Second}
	g := new(History).queue("x")
	list := listOf("a:info:open")
	g.nextMessage(list, by, start)
	now := start.Add(time.Second)
	if _, ok, _ := g.nextMessage(list, by, now); !ok {
		t.Fatal("nothing is sent")
	}
	g.recordFailure(now)
	if _, ok, next := g.nextMessage(list, by, now); ok || !next.Equal(now.Add(failurePause)) {
		t.Errorf("sent %t, next %v", ok, next)
	}
	if m, ok, _ := g.nextMessage(listOf("b:info:open"), by, now.Add(failurePause)); ok {
		t.Errorf("a new one waits for others, but %+v is sent", m)
	}
	if m, ok, _ := g.nextMessage(listOf("b:info:open"), by, now.Add(2*failurePause)); !ok || m.Open[0].ID != "b" {
		t.Errorf("%+v", m)
	}
}

// TestQueueIsBounded tells of so many and counts the rest.
func TestQueueIsBounded(t *testing.T) {
	by := deliverySettings{minSeverity: alert.Info}
	g := new(History).queue("x")
	var words []string
	for i := range 50 {
		words = append(words, fmt.Sprintf("%d:info:open", i))
	}
	list := listOf(words...)
	m, ok, _ := g.nextMessage(list, by, start)
	if !ok || len(m.Open) != maxAlertsPerMessage || m.More != 30 {
		t.Fatalf("%d are sent and %d more", len(m.Open), m.More)
	}
	g.recordDelivered(m, list, by, start)
	if _, ok, _ := g.nextMessage(list, by, start.Add(time.Hour)); ok {
		t.Error("the rest is sent later, although the receiver knows of it")
	}
	if m, _, _ := g.nextMessage(alert.List{}, by, start.Add(time.Hour)); len(m.Over) != maxAlertsPerMessage || m.More != 30 {
		t.Errorf("%d ends are sent and %d more", len(m.Over), m.More)
	}
}

// TestQueueIsNeverFull of alerts that were sent: a source of ever new alerts, of which
// lists leave out most, does not keep a new one from being sent.
func TestQueueIsNeverFull(t *testing.T) {
	by := deliverySettings{minSeverity: alert.Warning}
	g := new(History).queue("x")
	now := start
	for i := range 2 * maxSentAlerts / 100 {
		var words []string
		for j := range 100 {
			words = append(words, fmt.Sprintf("%d-%d:warning:open", i, j))
		}
		list := listOf(words...)
		list.More = 1
		now = now.Add(time.Hour)
		if m, ok, _ := g.nextMessage(list, by, now); ok {
			g.recordDelivered(m, list, by, now)
		}
	}
	list := listOf("new:critical:open")
	list.More = 1
	if m, ok, _ := g.nextMessage(list, by, now.Add(time.Hour)); !ok || len(m.Open) != 1 || m.Open[0].ID != "new" {
		t.Errorf("sent %t: %+v", ok, m.Open)
	}
	if len(g.sentAlerts) > maxSentAlerts {
		t.Errorf("%d are remembered", len(g.sentAlerts))
	}
}
