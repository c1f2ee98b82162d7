package notify

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

// toldTo returns what a receiver knows who was told of these.
func toldTo(instance string, words ...string) *Told {
	told := new(Told)
	told.Keep(instance)
	g, list := told.group("https://a.test/secret"), listOf(words...)
	g.delivered(Message{}, list, terms{least: alert.Info}, start)
	return told
}

func exported(t *testing.T, told *Told) json.RawMessage {
	t.Helper()
	data, err := told.Export()
	if err != nil || strings.Contains(string(data), "secret") {
		t.Fatalf("%v: %s", err, data)
	}
	return data
}

// TestKeptOverARestart tells nothing again after a restart. What is not found any more is
// over once there was time to find it.
func TestKeptOverARestart(t *testing.T) {
	before := toldTo("one", "a:critical:open", "b:warning:open", "c:warning:open")
	if before.Revision() == 0 {
		t.Error("what was told is no news")
	}
	data := exported(t, before)
	after := new(Told)
	after.Keep("one")
	g := after.group("https://a.test/secret")
	other := after.group("https://b.test/")
	after.Import(data)
	by := terms{least: alert.Warning}
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
		m, ok, _ := g.due(list, by, now)
		var told string
		for _, a := range m.Open {
			told += "+" + a.ID
		}
		for _, a := range m.Over {
			told += "-" + a.ID
		}
		if told != step.want {
			t.Errorf("minute %d: %q, want %q", step.minute, told, step.want)
		}
		if ok {
			g.delivered(m, list, by, now)
		}
	}
	if m, _, _ := other.due(listOf("a:critical:open"), by, start); len(m.Open) != 1 {
		t.Error("who was told nothing is not told either")
	}
}

// TestKeptIsOurs takes over what this instance has told, once.
func TestKeptIsOurs(t *testing.T) {
	data := exported(t, toldTo("one", "a:critical:open"))
	for name, test := range map[string]struct {
		instance string
		data     []json.RawMessage
		want     int
	}{
		"ours":       {"one", []json.RawMessage{data}, 1},
		"another's":  {"two", []json.RawMessage{data}, 0},
		"not kept":   {"", []json.RawMessage{exported(t, toldTo("", "a:critical:open"))}, 0},
		"noise":      {"one", []json.RawMessage{[]byte(`[1]`), []byte(`noise`)}, 0},
		"twice":      {"one", []json.RawMessage{data, exported(t, toldTo("one", "b:critical:open"))}, 1},
		"no alert":   {"one", []json.RawMessage{[]byte(strings.Replace(string(data), `"id":"a"`, `"id":"x"`, 1))}, 0},
		"others too": {"one", []json.RawMessage{exported(t, toldTo("two", "b:critical:open")), data}, 1},
	} {
		told := new(Told)
		told.Keep(test.instance)
		g := told.group("https://a.test/secret")
		for _, data := range test.data {
			told.Import(data)
		}
		if len(g.told) != test.want || len(g.earlier) != test.want {
			t.Errorf("%s: %d are known", name, len(g.told))
		}
	}
}

// TestKeptIsBounded keeps the most severe of very many long alerts.
func TestKeptIsBounded(t *testing.T) {
	told := toldTo("one")
	for r := range maxReceivers {
		g := told.group(fmt.Sprint(r))
		for n := range maxTold {
			a := alert.Alert{ID: fmt.Sprintf("%d-%d", r, n), Severity: alert.Warning, Title: strings.Repeat("x", 1000)}
			if n == 500 {
				a.Severity = alert.Critical
			}
			g.told[a.ID] = a
		}
	}
	data := exported(t, told)
	var k kept
	if err := json.Unmarshal(data, &k); err != nil || len(data) > 2*maxKept || len(k.Alerts) < 100 {
		t.Fatalf("%v: %d bytes, %d alerts", err, len(data), len(k.Alerts))
	}
	for r := range maxReceivers {
		if ids := k.Receivers[nameOf(fmt.Sprint(r))]; !strings.Contains(strings.Join(ids, " "), fmt.Sprintf("%d-500", r)) {
			t.Errorf("receiver %d was told of %v", r, ids)
		}
	}
}
