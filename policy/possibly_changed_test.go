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
	e := c.GetOrCreate(Key{Host: "a.test"}, ConfiguredHosts)
	<-e.Refresh(holding(time.Hour), func() FetchResult { return version(1) }, nil)
	clock.advance(time.Hour)
	<-e.Refresh(holding(time.Hour), func() FetchResult {
		e.MarkPossiblyChanged(clock.now())
		return version(1)
	}, nil)
	if !e.IsDue(clock.now()) {
		t.Fatal("a copy that was read before the site was seen to answer otherwise is not due")
	}
	<-e.Refresh(holding(time.Hour), func() FetchResult { return version(2) }, nil)
	if e.IsDue(clock.now()) {
		t.Error("a copy that was read since is due")
	}
}

// TestSuspectedSoonAfterReading marks an entry as suspect just after a fetch. The next fetch
// follows after the minimum interval, without another mark.
func TestSuspectedSoonAfterReading(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.GetOrCreate(Key{Host: "a.test"}, ConfiguredHosts)
	<-e.Refresh(holding(time.Hour), func() FetchResult { return version(1) }, nil)
	clock.advance(time.Second)
	e.MarkPossiblyChanged(clock.now())
	if e.IsDue(clock.now()) {
		t.Error("a copy that was just read is due")
	}
	clock.advance(changeRecheckInterval - time.Second)
	if !e.IsDue(clock.now()) {
		t.Fatal("what was seen soon after the reading is forgotten")
	}
	<-e.Refresh(holding(time.Hour), func() FetchResult { return version(2) }, nil)
	if e.PossiblyChanged() || e.IsDue(clock.now()) {
		t.Error("a copy that was read since is suspect")
	}
}

// TestSuspectedWhileFailing marks an entry as suspect during a Retry-After of a day. The wait ends.
func TestSuspectedWhileFailing(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.GetOrCreate(Key{Host: "a.test"}, ConfiguredHosts)
	down := func() FetchResult { return FetchResult{Status: 503, Header: http.Header{"Retry-After": {"86400"}}} }
	<-e.Refresh(holding(time.Hour), func() FetchResult { return version(1) }, nil)
	clock.advance(time.Hour - time.Second)
	e.MarkPossiblyChanged(clock.now())
	<-e.Refresh(holding(time.Hour), down, nil)
	clock.advance(time.Hour)
	if e.IsDue(clock.now()) {
		t.Fatal("what was seen before the attempt that failed makes it due")
	}
	e.MarkPossiblyChanged(clock.now())
	if !e.IsDue(clock.now()) {
		t.Fatal("a site that was seen to serve another text is not due")
	}
	<-e.Refresh(holding(time.Hour), down, nil)
	e.MarkPossiblyChanged(clock.now())
	if e.IsDue(clock.now()) {
		t.Error("a site is due just after an attempt that failed")
	}
	clock.advance(changeRecheckInterval)
	if !e.IsDue(clock.now()) {
		t.Error("what was seen soon after an attempt that failed is forgotten")
	}
}

// TestSuspectedWhileAReadingFails marks an entry as suspect during a fetch that fails with a
// Retry-After of a day. One fetch follows soon.
func TestSuspectedWhileAReadingFails(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.GetOrCreate(Key{Host: "a.test"}, ConfiguredHosts)
	down := FetchResult{Status: 503, Header: http.Header{"Retry-After": {"86400"}}}
	<-e.Refresh(holding(time.Hour), func() FetchResult { return version(1) }, nil)
	clock.advance(time.Hour)
	<-e.Refresh(holding(time.Hour), func() FetchResult {
		e.MarkPossiblyChanged(clock.now())
		clock.advance(time.Second)
		return down
	}, nil)
	if e.IsDue(clock.now()) {
		t.Error("a site is due just after an attempt that failed")
	}
	clock.advance(changeRecheckInterval)
	if !e.IsDue(clock.now()) {
		t.Fatal("what was seen while an attempt failed is forgotten")
	}
	<-e.Refresh(holding(time.Hour), func() FetchResult { return down }, nil)
	clock.advance(time.Hour)
	if e.IsDue(clock.now()) {
		t.Error("what was seen before the last attempt makes it due")
	}
}
