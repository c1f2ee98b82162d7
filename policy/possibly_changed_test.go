package policy

import (
	"net/http"
	"testing"
	"time"
)

// TestPossiblyChangedDuringFetch marks an entry as suspect during a fetch that returns the
// cached text again. The entry is then due again after the minimum interval.
func TestPossiblyChangedDuringFetch(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.GetOrCreate(Key{Host: "a.test"}, ConfiguredHosts)
	<-e.Refresh(holding(time.Hour), func() FetchResult { return version(1) }, nil)
	clock.advance(time.Hour)
	<-e.Refresh(holding(time.Hour), func() FetchResult {
		e.MarkPossiblyChanged(clock.now())
		return version(1)
	}, nil)
	if e.IsDue(clock.now()) {
		t.Error("an entry is due just after a fetch")
	}
	clock.advance(changeRecheckInterval)
	if !e.IsDue(clock.now()) {
		t.Fatal("a copy is not due after MarkPossiblyChanged during its fetch")
	}
	<-e.Refresh(holding(time.Hour), func() FetchResult { return version(2) }, nil)
	if e.IsDue(clock.now()) {
		t.Error("a copy that was fetched after the mark is due")
	}
}

// TestPossiblyChangedSoonAfterFetch marks an entry as suspect just after a fetch. The next fetch
// follows after the minimum interval, without another mark.
func TestPossiblyChangedSoonAfterFetch(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.GetOrCreate(Key{Host: "a.test"}, ConfiguredHosts)
	<-e.Refresh(holding(time.Hour), func() FetchResult { return version(1) }, nil)
	clock.advance(time.Second)
	e.MarkPossiblyChanged(clock.now())
	if e.IsDue(clock.now()) {
		t.Error("a new copy is due")
	}
	clock.advance(changeRecheckInterval - time.Second)
	if !e.IsDue(clock.now()) {
		t.Fatal("the mark soon after the fetch is lost")
	}
	<-e.Refresh(holding(time.Hour), func() FetchResult { return version(2) }, nil)
	if e.IsPossiblyChanged() || e.IsDue(clock.now()) {
		t.Error("a copy that was fetched after the mark is still marked")
	}
}

// TestPossiblyChangedWhileFailing marks an entry as suspect during a Retry-After of a day. The wait ends.
func TestPossiblyChangedWhileFailing(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.GetOrCreate(Key{Host: "a.test"}, ConfiguredHosts)
	down := func() FetchResult { return FetchResult{Status: 503, Header: http.Header{"Retry-After": {"86400"}}} }
	<-e.Refresh(holding(time.Hour), func() FetchResult { return version(1) }, nil)
	clock.advance(time.Hour - time.Second)
	e.MarkPossiblyChanged(clock.now())
	<-e.Refresh(holding(time.Hour), down, nil)
	clock.advance(time.Hour)
	if e.IsDue(clock.now()) {
		t.Fatal("a mark before the failed fetch makes the entry due")
	}
	e.MarkPossiblyChanged(clock.now())
	if !e.IsDue(clock.now()) {
		t.Fatal("a marked entry is not due")
	}
	<-e.Refresh(holding(time.Hour), down, nil)
	e.MarkPossiblyChanged(clock.now())
	if e.IsDue(clock.now()) {
		t.Error("an entry is due just after a failed fetch")
	}
	clock.advance(changeRecheckInterval)
	if !e.IsDue(clock.now()) {
		t.Error("the mark soon after a failed fetch is lost")
	}
}

// TestPossiblyChangedDuringFailingFetch marks an entry as suspect during a fetch that fails with a
// Retry-After of a day. One fetch follows soon.
func TestPossiblyChangedDuringFailingFetch(t *testing.T) {
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
		t.Error("an entry is due just after a failed fetch")
	}
	clock.advance(changeRecheckInterval)
	if !e.IsDue(clock.now()) {
		t.Fatal("the mark during a failing fetch is lost")
	}
	<-e.Refresh(holding(time.Hour), func() FetchResult { return down }, nil)
	clock.advance(time.Hour)
	if e.IsDue(clock.now()) {
		t.Error("a mark before the last fetch makes the entry due")
	}
}

// TestPossiblyChangedBeforeRestore marks an entry as suspect before a failed fetch. A copy of another
// instance may be older than the mark, so the entry is due.
func TestPossiblyChangedBeforeRestore(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.GetOrCreate(Key{Host: "a.test"}, ConfiguredHosts)
	<-e.Refresh(holding(time.Hour), func() FetchResult { return version(1) }, nil)
	clock.advance(time.Hour)
	e.MarkPossiblyChanged(clock.now())
	<-e.Refresh(holding(time.Hour), func() FetchResult { return failing }, nil)
	clock.advance(100 * time.Millisecond)
	other := versionOf(200, smallFile, clock.now(), clock.now())
	if !c.Restore(e.Key(), ConfiguredHosts, stateOf(other), false) || !e.IsDue(clock.now()) {
		t.Error("the entry is not due after the copy of another instance")
	}
}
