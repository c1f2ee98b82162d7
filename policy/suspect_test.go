package policy

import (
	"net/http"
	"testing"
	"time"
)

// TestSuspectedWhileRead marks an entry as suspect during a fetch that returns the
// cached text again. The entry is then due again.
func TestSuspectedWhileRead(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.Add(Key{Host: "a.test"}, Named)
	<-e.Refresh(holding(time.Hour), func() Answer { return version(1) }, nil)
	clock.advance(time.Hour)
	<-e.Refresh(holding(time.Hour), func() Answer {
		e.MarkSuspect(clock.now())
		return version(1)
	}, nil)
	if !e.Due(clock.now()) {
		t.Fatal("a copy that was read before the site was seen to answer otherwise is not due")
	}
	<-e.Refresh(holding(time.Hour), func() Answer { return version(2) }, nil)
	if e.Due(clock.now()) {
		t.Error("a copy that was read since is due")
	}
}

// TestSuspectedSoonAfterReading marks an entry as suspect just after a fetch. The next fetch
// follows after the minimum interval, without another mark.
func TestSuspectedSoonAfterReading(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.Add(Key{Host: "a.test"}, Named)
	<-e.Refresh(holding(time.Hour), func() Answer { return version(1) }, nil)
	clock.advance(time.Second)
	e.MarkSuspect(clock.now())
	if e.Due(clock.now()) {
		t.Error("a copy that was just read is due")
	}
	clock.advance(suspectInterval - time.Second)
	if !e.Due(clock.now()) {
		t.Fatal("what was seen soon after the reading is forgotten")
	}
	<-e.Refresh(holding(time.Hour), func() Answer { return version(2) }, nil)
	if e.Suspect() || e.Due(clock.now()) {
		t.Error("a copy that was read since is suspect")
	}
}

// TestSuspectedWhileFailing marks an entry as suspect during a Retry-After of a day. The wait ends.
func TestSuspectedWhileFailing(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.Add(Key{Host: "a.test"}, Named)
	down := func() Answer { return Answer{Status: 503, Header: http.Header{"Retry-After": {"86400"}}} }
	<-e.Refresh(holding(time.Hour), func() Answer { return version(1) }, nil)
	clock.advance(time.Hour - time.Second)
	e.MarkSuspect(clock.now())
	<-e.Refresh(holding(time.Hour), down, nil)
	clock.advance(time.Hour)
	if e.Due(clock.now()) {
		t.Fatal("what was seen before the attempt that failed makes it due")
	}
	e.MarkSuspect(clock.now())
	if !e.Due(clock.now()) {
		t.Fatal("a site that was seen to serve another text is not due")
	}
	<-e.Refresh(holding(time.Hour), down, nil)
	e.MarkSuspect(clock.now())
	if e.Due(clock.now()) {
		t.Error("a site is due just after an attempt that failed")
	}
	clock.advance(suspectInterval)
	if !e.Due(clock.now()) {
		t.Error("what was seen soon after an attempt that failed is forgotten")
	}
}

// TestSuspectedWhileAReadingFails marks an entry as suspect during a fetch that fails with a
// Retry-After of a day. One fetch follows soon.
func TestSuspectedWhileAReadingFails(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.Add(Key{Host: "a.test"}, Named)
	down := Answer{Status: 503, Header: http.Header{"Retry-After": {"86400"}}}
	<-e.Refresh(holding(time.Hour), func() Answer { return version(1) }, nil)
	clock.advance(time.Hour)
	<-e.Refresh(holding(time.Hour), func() Answer {
		e.MarkSuspect(clock.now())
		clock.advance(time.Second)
		return down
	}, nil)
	if e.Due(clock.now()) {
		t.Error("a site is due just after an attempt that failed")
	}
	clock.advance(suspectInterval)
	if !e.Due(clock.now()) {
		t.Fatal("what was seen while an attempt failed is forgotten")
	}
	<-e.Refresh(holding(time.Hour), func() Answer { return down }, nil)
	clock.advance(time.Hour)
	if e.Due(clock.now()) {
		t.Error("what was seen before the last attempt makes it due")
	}
}
