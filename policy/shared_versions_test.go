package policy

import (
	"fmt"
	"testing"
	"time"
)

func TestCacheSharesEqualTexts(t *testing.T) {
	clock := new(testClock)
	derived := 0
	c := NewCache(roomy, roomy, clock.now, func(r *Robots) any { derived++; return r.GroupNames() })
	var first *Version
	for i := range 50 {
		e := c.GetOrCreate(Key{Host: fmt.Sprint(i)}, ConfiguredHosts)
		<-e.Refresh(holding(time.Hour), answering("User-agent: FooBot\nDisallow: /\n"), nil)
		good := e.State().Current
		if first == nil {
			first = good
		}
		if good.Robots != first.Robots {
			t.Fatal("equal files were compiled twice")
		}
		if names, _ := good.Derived.([]string); len(names) != 1 || names[0] != "FooBot" {
			t.Fatalf("derived = %v", good.Derived)
		}
	}
	if stats := c.Stats(ConfiguredHosts); stats.Bytes != first.Robots.Size() {
		t.Errorf("bytes = %d, want %d: equal files count once", stats.Bytes, first.Robots.Size())
	}
	clock.advance(2 * time.Hour)
	for i := range 50 {
		<-c.Get(Key{Host: fmt.Sprint(i)}).Refresh(holding(time.Hour), func() FetchResult { return missing }, nil)
	}
	if got, want := c.Stats(ConfiguredHosts).Bytes, Parse(nil).Size()+first.Robots.Size(); got != want {
		t.Errorf("bytes = %d after all files changed, want %d: the new file and the previous file", got, want)
	}
}

// TestRestoreWritesNoSharedVersion checks that a state restored into another segment leaves its
// versions unchanged, because requests for the first entry read them.
func TestRestoreWritesNoSharedVersion(t *testing.T) {
	clock := new(testClock)
	c := NewCache(roomy, roomy, clock.now, nil)
	const text = "User-agent: *\nDisallow: /x\n"
	version := func() *Version { return versionOf(200, text, clock.now(), clock.now()) }
	c.Restore(Key{Host: "first.test"}, ConfiguredHosts, stateOf(version()), false)
	inUse := version()
	robots := inUse.Robots
	c.Restore(Key{Host: "second.test"}, ConfiguredHosts, stateOf(inUse), false)
	if inUse.Robots != robots {
		t.Error("Restore wrote the version of the caller")
	}
	if first, second := c.Get(Key{Host: "first.test"}), c.Get(Key{Host: "second.test"}); first.Current().Robots != second.Current().Robots {
		t.Error("two sites with one body do not share its rules")
	}
}
