package policy

import (
	"testing"
	"time"
)

// TestSuspectedWhileRead has the site be seen to answer otherwise once an attempt to read it
// has got the text before: the copy is due again.
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
