package alert

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestAcknowledge keeps what is known quiet until it is another thing.
func TestAcknowledge(t *testing.T) {
	w := newWorld(t)
	w.answer("a.test", "enforce", 404, "")
	id := w.only().ID
	acknowledged, err := w.Acknowledge(id, "ann", " as it\nis meant ")
	if err != nil || acknowledged.State != Acknowledged || acknowledged.Acknowledged.User != "ann" || acknowledged.Acknowledged.Note != "as it?is meant" {
		t.Fatalf("%+v, %v", acknowledged, err)
	}
	w.leap(40 * 24 * time.Hour)
	w.want("long after", "acknowledged warning not_protecting")

	if a, err := w.Reopen(id); err != nil || a.State != Open || a.Acknowledged != nil {
		t.Errorf("undone: %+v, %v", a, err)
	}
	if _, err := w.Acknowledge(id, "", ""); err != nil { // within the same moment
		t.Error(err)
	}
	w.want("again", "acknowledged warning not_protecting")

	w.answer("a.test", "enforce", 200, page)
	w.leap(time.Minute)
	w.want("another cause", "open warning not_protecting, over warning not_protecting")
	for _, id := range []string{id, "", "not_protecting-000000000000"} {
		if _, err := w.Acknowledge(id, "", ""); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := w.Reopen(id); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestComesBack is acknowledged as before within a day, and another thing later.
func TestComesBack(t *testing.T) {
	w := newWorld(t)
	down := func() { w.answer("a.test", "monitor", 503, ""); w.pass(20 * time.Minute) }
	down()
	if _, err := w.Acknowledge(w.only().ID, "", ""); err != nil {
		t.Fatal(err)
	}
	up := func(d time.Duration) { w.answer("a.test", "monitor", 200, rules); w.pass(d) }
	up(2 * time.Hour)
	down()
	w.want("within a day", "acknowledged warning unreachable")
	w.pass(10 * time.Hour)
	up(16 * time.Hour)
	down()
	w.want("within a day after a long failure", "acknowledged warning unreachable")
	up(25 * time.Hour)
	down()
	w.want("later", "open warning unreachable")
}

// TestKept are acknowledgements over a restart, and at other instances.
func TestKept(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	w.stores = true
	for _, x := range []*world{w, other} {
		x.answer("a.test", "enforce", 404, "")
	}
	id := w.only().ID
	if list := w.List(); !list.IsPersistent || list.ReadOnly {
		t.Errorf("%+v", list)
	}
	if other.only().ID != id {
		t.Error("another instance has another ID")
	}
	copied := func(from, to *world) {
		t.Helper()
		data, err := from.Export()
		if err == nil {
			err = to.Import(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Acknowledge(id, "ann", "a partner"); err != nil || w.Revision() != 1 {
		t.Fatalf("%v, revision %d", err, w.Revision())
	}
	copied(w, other)
	other.want("the other", "acknowledged warning not_protecting")
	if known := other.only().Acknowledged; known.User != "ann" || known.Note != "a partner" {
		t.Errorf("%+v", known)
	}
	other.leap(time.Minute)
	if _, err := other.Reopen(id); err != nil {
		t.Fatal(err)
	}
	w.leap(2 * time.Minute)
	copied(other, w)
	w.want("undone elsewhere", "open warning not_protecting")
	revision := w.Revision()
	copied(other, w)
	if w.Revision() != revision {
		t.Error("what is known already is news")
	}

	for name, data := range map[string]string{
		"noise":   "noise",
		"version": `{"version":2}`,
		"time":    `{"version":1,"acknowledged":[{"id":"unreachable-1"}]}`,
		"length":  `{"version":1,"acknowledged":[{"id":"unreachable-` + strings.Repeat("0", 100) + `","at":"2026-11-01T00:00:00Z"}]}`,
	} {
		if w.Import([]byte(data)) == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// TestForgottenByAll forgets what is over even where each of two instances takes over
// what the other still knows.
func TestForgottenByAll(t *testing.T) {
	both := []*world{newWorld(t), newWorld(t)}
	swap := func() {
		t.Helper()
		for i, w := range both {
			data, err := w.Export()
			if err == nil {
				err = both[1-i].Import(data)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, w := range both {
		w.answer("a.test", "enforce", 404, "")
		w.List()
	}
	if _, err := both[0].Acknowledge(both[0].only().ID, "ann", ""); err != nil {
		t.Fatal(err)
	}
	pass := func(hours int) {
		for range hours {
			swap()
			both[0].leap(time.Hour)
			both[1].leap(time.Hour)
		}
	}
	pass(72)
	for _, w := range both {
		w.want("as long as it is so", "acknowledged warning not_protecting")
		if before := w.Revision(); before > 20 {
			t.Errorf("in three days it was written %d times", before)
		}
		clear(w.sites)
	}
	pass(26)
	revisions := both[0].Revision() + both[1].Revision()
	pass(24)
	for _, w := range both {
		if len(w.acknowledgements.byID) != 0 {
			t.Errorf("%d acknowledgements are known two days after the end", len(w.acknowledgements.byID))
		}
	}
	if both[0].Revision()+both[1].Revision() != revisions {
		t.Error("what is forgotten comes back again and again")
	}
}

// TestBounds keeps the most severe of too much, and little of what is over.
func TestBounds(t *testing.T) {
	w := newWorld(t)
	for i := range 2 * maxAlerts {
		w.answer(fmt.Sprintf("%03d.test", i), "enforce", 404, "")
	}
	w.answer("z.test", "enforce", 200, rules)
	w.leap(time.Hour)
	w.answer("z.test", "enforce", 404, "")
	w.leap(time.Minute)
	list := w.List()
	if len(list.Alerts) != maxAlerts || list.MoreCount != maxAlerts+1 || list.Alerts[0].Kind != RobotsGone {
		t.Errorf("%d alerts and %d more, first %+v", len(list.Alerts), list.MoreCount, list.Alerts[0])
	}
	for _, a := range list.Alerts {
		if _, err := w.Acknowledge(a.ID, strings.Repeat("x", 1000), strings.Repeat("x", 1000)); err != nil {
			t.Fatal(err)
		}
	}
	clear(w.sites)
	w.leap(time.Minute)
	if n := len(w.List().Alerts); n != maxEndedAlerts {
		t.Errorf("%d are shown that are over, want %d", n, maxEndedAlerts)
	}
	if n := len(w.alerts); n != maxEndedAlerts {
		t.Errorf("%d ended alerts in memory, want %d", n, maxEndedAlerts)
	}
	w.leap(25 * time.Hour)
	if n := len(w.List().Alerts); n != 0 || len(w.alerts) != 0 || len(w.acknowledgements.byID) != 0 {
		t.Errorf("%d alerts, %d entries and %d acknowledgements are left", n, len(w.alerts), len(w.acknowledgements.byID))
	}
}

// TestTooMany has a client that claims to be search engines many times. It displaces no other alert.
func TestTooMany(t *testing.T) {
	w := newWorld(t)
	w.since, w.trouble = start, errors.New("no space left")
	for i := range maxAlerts / 3 {
		w.answer(fmt.Sprintf("%03d.test", i), "enforce", 404, "")
	}
	for range 5 {
		for i := range 2 * MaxBlocks {
			x := googlebot(verify.Claimed)
			x.Rule = fmt.Sprintf("Disallow: /%d", i)
			w.RecordBlock(x)
		}
		w.pass(5 * time.Minute)
	}
	kinds := make(map[Kind]int)
	for _, a := range w.List().Alerts {
		kinds[a.Kind]++
	}
	if kinds[StorageFailing] != 1 || kinds[NotProtecting] != maxAlerts/3 || kinds[SearchBlocked] > MaxBlocks {
		t.Errorf("shown are %v", kinds)
	}
}

// TestLooks is cheap: the ledger is looked at now and then, and readers share looks.
func TestLooks(t *testing.T) {
	w := newWorld(t)
	w.List()
	w.pass(time.Hour)
	if w.reports != 7 { // at the start, and every ten minutes
		t.Errorf("the ledger was read %d times in an hour", w.reports)
	}
}

// TestWatch updates the alerts without a caller of List until its context ends, and callers of Latest
// learn of each update.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answer("a.test", "enforce", 404, "")
		ctx, cancel := context.WithCancel(t.Context())
		_, updated := w.Latest()
		w.Watch(ctx)
		<-updated
		for range 2 {
			alerts, updated := w.Latest()
			if len(alerts) != 1 || alerts[0].Kind != NotProtecting {
				t.Errorf("%+v", alerts)
			}
			w.clock.Lock()
			w.time = w.time.Add(updateInterval)
			w.clock.Unlock()
			<-updated
		}
		w.answer("a.test", "enforce", 200, rules)
		w.leap(time.Minute) // by another caller
		if alerts, _ := w.Latest(); len(alerts) != 2 || alerts[1].State != Over {
			t.Errorf("%+v", alerts)
		}
		cancel()
	})
}
