package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

const secretURL = "https://a.test/secret"

// sentTo returns a history of a receiver that was sent these.
func sentTo(words ...string) *DeliveryHistory {
	history := new(DeliveryHistory)
	q := history.getOrCreateQueues([]string{receiverKey(secretURL)})[0]
	q.recordSent(pendingAlerts{opened: alertsOf(words...)}, start)
	return history
}

func exported(t *testing.T, history *DeliveryHistory) []byte {
	t.Helper()
	data, err := history.Export()
	if err != nil || strings.Contains(string(data), "secret") {
		t.Fatalf("%v: %s", err, data)
	}
	return data
}

// TestKeptOverARestart sends nothing again after a restart. An alert that is not found again is
// over once there was time to find it.
func TestKeptOverARestart(t *testing.T) {
	before := sentTo("a:critical:open", "b:warning:open", "c:warning:open")
	if before.Revision() == 0 {
		t.Error("a message does not change the revision")
	}
	after := new(DeliveryHistory)
	queues := after.getOrCreateQueues([]string{receiverKey(secretURL), receiverKey("https://b.test/")})
	if err := after.Import(exported(t, before)); err != nil {
		t.Fatal(err)
	}
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
		p, ok, _ := queues[0].nextToSend(alertsOf(strings.Fields(step.list)...), by, now)
		if got := p.String(); got != step.want {
			t.Errorf("minute %d: %q, want %q", step.minute, got, step.want)
		}
		if ok {
			queues[0].recordSent(p, now)
		}
	}
	if p, _, _ := queues[1].nextToSend(alertsOf("a:critical:open"), by, start); len(p.opened) != 1 {
		t.Error("a receiver that was sent nothing is not sent anything")
	}
}

// TestImport restores a history once.
func TestImport(t *testing.T) {
	data := exported(t, sentTo("a:critical:open"))
	for name, test := range map[string]struct {
		data [][]byte
		want int
	}{
		"valid":            {[][]byte{data}, 1},
		"invalid":          {[][]byte{[]byte("[1]"), []byte("noise")}, 0},
		"twice":            {[][]byte{data, exported(t, sentTo("b:critical:open"))}, 1},
		"another receiver": {[][]byte{[]byte(strings.Replace(string(data), receiverKey(secretURL), receiverKey("x"), 1))}, 0},
	} {
		history := new(DeliveryHistory)
		q := history.getOrCreateQueues([]string{receiverKey(secretURL)})[0]
		for _, data := range test.data {
			if err := history.Import(data); (err != nil) != (name == "invalid") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if len(q.sent) != test.want {
			t.Errorf("%s: %d are known", name, len(q.sent))
		}
	}
}

// TestExportIsBounded stores the most severe of very many long alerts.
func TestExportIsBounded(t *testing.T) {
	history := new(DeliveryHistory)
	for _, q := range history.getOrCreateQueues([]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}) {
		var p pendingAlerts
		for n := range 1000 {
			a := alert.Alert{ID: fmt.Sprint("alert-", n), State: alert.Open, Severity: alert.Warning, Title: strings.Repeat("x", 1000), RemedySnippet: strings.Repeat("x", 1000)}
			if n == 500 {
				a.Severity = alert.Critical
			}
			p.opened = append(p.opened, a)
		}
		q.recordSent(p, start)
	}
	data := exported(t, history)
	if len(data) > 1<<20 || strings.Count(string(data), `"alert-`) != maxReceivers*maxStoredAlerts || strings.Count(string(data), `"alert-500"`) != maxReceivers {
		t.Errorf("%d bytes with %d alerts", len(data), strings.Count(string(data), `"alert-`))
	}
}

// TestReplacedReceivers keeps the queue of a receiver that a reload removes, because the reload can
// fail. The number of queues is bounded.
func TestReplacedReceivers(t *testing.T) {
	var history DeliveryHistory
	kept := history.getOrCreateQueues([]string{"a", "b"})
	history.getOrCreateQueues([]string{"a", "c"}) // another app fails to start
	if again := history.getOrCreateQueues([]string{"a", "b"}); again[0] != kept[0] || again[1] != kept[1] {
		t.Error("after a failed reload the receivers have other queues")
	}
	for i := range 100 {
		if history.getOrCreateQueues([]string{"a", fmt.Sprint(i)})[0] != kept[0] {
			t.Fatal("a receiver of all configurations has another queue")
		}
	}
	if n := len(history.queues); n > 2*maxReceivers {
		t.Errorf("%d queues", n)
	}
}
