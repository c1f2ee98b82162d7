package notify

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

// sentTo returns a history of a receiver that was sent these.
func sentTo(instance string, words ...string) *History {
	history := new(History)
	history.SetInstance(instance)
	g, list := history.queue("https://a.test/secret"), listOf(words...)
	g.recordDelivered(Message{}, list, deliverySettings{minSeverity: alert.Info}, start)
	return history
}

func exported(t *testing.T, history *History) json.RawMessage {
	t.Helper()
	data, err := history.Export()
	if err != nil || strings.Contains(string(data), "secret") {
		t.Fatalf("%v: %s", err, data)
	}
	return data
}

// TestKeptOverARestart tells nothing again after a restart. What is not found any more is
// over once there was time to find it.
func TestKeptOverARestart(t *testing.T) {
	before := sentTo("one", "a:critical:open", "b:warning:open", "c:warning:open")
	if before.Revision() == 0 {
		t.Error("a message does not change the revision")
	}
	data := exported(t, before)
	after := new(History)
	after.SetInstance("one")
	g := after.queue("https://a.test/secret")
	other := after.queue("https://b.test/")
	after.Import(data)
	by := deliverySettings{minSeverity: alert.Warning}
	for _, step := range []struct {
		minute     int
		list, want string
	}{
		{0, "", ""},
		{1, "a:critical:open", ""},
		{2, "a:critical:open d:critical:open", "+d"},
		{3, "d:critical:open c:warning:over", "-a-c"},
		{59, "d:critical:open", ""},
		{61, "d:critical:open", "-b"},
		{62, "b:warning:open d:critical:open", "+b"},
	} {
		now := start.Add(time.Duration(step.minute) * time.Minute)
		list := listOf(strings.Fields(step.list)...)
		list.Generated = now
		m, ok, _ := g.nextMessage(list, by, now)
		var got string
		for _, a := range m.Open {
			got += "+" + a.ID
		}
		for _, a := range m.Over {
			got += "-" + a.ID
		}
		if got != step.want {
			t.Errorf("minute %d: %q, want %q", step.minute, got, step.want)
		}
		if ok {
			g.recordDelivered(m, list, by, now)
		}
	}
	if m, _, _ := other.nextMessage(listOf("a:critical:open"), by, start); len(m.Open) != 1 {
		t.Error("a receiver that was sent nothing is not sent anything")
	}
}

// TestKeptIsOurs takes over what this instance has sent, once.
func TestKeptIsOurs(t *testing.T) {
	data := exported(t, sentTo("one", "a:critical:open"))
	for name, test := range map[string]struct {
		instance string
		data     []json.RawMessage
		want     int
	}{
		"ours":       {"one", []json.RawMessage{data}, 1},
		"another's":  {"two", []json.RawMessage{data}, 0},
		"not kept":   {"", []json.RawMessage{exported(t, sentTo("", "a:critical:open"))}, 0},
		"noise":      {"one", []json.RawMessage{[]byte(`[1]`), []byte(`noise`)}, 0},
		"twice":      {"one", []json.RawMessage{data, exported(t, sentTo("one", "b:critical:open"))}, 1},
		"no alert":   {"one", []json.RawMessage{[]byte(strings.Replace(string(data), `"id":"a"`, `"id":"x"`, 1))}, 0},
		"others too": {"one", []json.RawMessage{exported(t, sentTo("two", "b:critical:open")), data}, 1},
	} {
		history := new(History)
		history.SetInstance(test.instance)
		g := history.queue("https://a.test/secret")
		for _, data := range test.data {
			history.Import(data)
		}
		if len(g.sentAlerts) != test.want || len(g.sentBeforeStart) != test.want {
			t.Errorf("%s: %d are known", name, len(g.sentAlerts))
		}
	}
}

// TestKeptIsBounded keeps the most severe of very many long alerts.
func TestKeptIsBounded(t *testing.T) {
	history := sentTo("one")
	for r := range maxReceivers {
		g := history.queue(fmt.Sprint(r))
		for n := range maxSentAlerts {
			a := alert.Alert{ID: fmt.Sprintf("%d-%d", r, n), Severity: alert.Warning, Title: strings.Repeat("x", 1000)}
			if n == 500 {
				a.Severity = alert.Critical
			}
			g.sentAlerts[a.ID] = a
		}
	}
	data := exported(t, history)
	var k storedHistory
	if err := json.Unmarshal(data, &k); err != nil || len(data) > 2*maxStoredBytes || len(k.Alerts) < 100 {
		t.Fatalf("%v: %d bytes, %d alerts", err, len(data), len(k.Alerts))
	}
	for r := range maxReceivers {
		if ids := k.Receivers[keyHash(fmt.Sprint(r))]; !strings.Contains(strings.Join(ids, " "), fmt.Sprintf("%d-500", r)) {
			t.Errorf("receiver %d was sent %v", r, ids)
		}
	}
}
