package policy

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestCacheSharesEqualTexts(t *testing.T) {
	clock := new(testClock)
	derived := 0
	c := NewCache(roomy, roomy, clock.now, func(r *Robots) any { derived++; return r.Names() })
	var first *Version
	for i := range 50 {
		e := c.Add(Key{Host: fmt.Sprint(i)}, Named)
		<-e.Refresh(holding(time.Hour), answering("User-agent: FooBot\nDisallow: /\n"), nil)
		good := e.State().Good
		if first == nil {
			first = good
		}
		if good.Robots != first.Robots {
			t.Fatal("equal texts were compiled twice")
		}
		if names, _ := good.Derived.([]string); len(names) != 1 || names[0] != "FooBot" {
			t.Fatalf("derived = %v", good.Derived)
		}
	}
	if stats := c.Stats(Named); stats.Bytes != first.Robots.Size() {
		t.Errorf("bytes = %d, want %d: equal texts count once", stats.Bytes, first.Robots.Size())
	}
	clock.advance(2 * time.Hour)
	for i := range 50 {
		<-c.Get(Key{Host: fmt.Sprint(i)}).Refresh(holding(time.Hour), func() Answer { return missing }, nil)
	}
	if got, want := c.Stats(Named).Bytes, Parse(nil).Size()+first.Robots.Size(); got != want {
		t.Errorf("bytes = %d after all texts changed, want %d: the new one and the one before", got, want)
	}
}

// TestCacheSharesNoSource has a site whose robots.txt comes from a source of its own, which
// is that of no host.
func TestCacheSharesNoSource(t *testing.T) {
	c, _ := newTestCache(roomy)
	source := Key{Source: "https://cdn.test/robots.txt"}
	<-c.Add(source, Named).Refresh(holding(time.Hour), answering(smallFile), nil)
	for _, key := range []Key{source, {Host: "a.test"}} {
		if c.Shared(key) != nil {
			t.Errorf("a text of the source is shared with %v", key)
		}
	}
}

func TestCacheSharedText(t *testing.T) {
	c, _ := newTestCache(roomy)
	site := func(host string) Key { return Key{Server: ":443", Site: "*.shop.test", Secure: true, Host: host} }
	read := func(key Key, a Answer) {
		e := c.Add(key, Invented)
		e.MakeDue()
		<-e.Refresh(holding(time.Hour), func() Answer { return a }, nil)
	}
	shared := func() string {
		if s := c.Shared(site("new.shop.test")); s != nil {
			return ruleOf(s.Good)
		}
		return ""
	}
	if shared() != "" {
		t.Error("a text is shared where none is known")
	}
	for i := range minSharing - 2 {
		read(site(fmt.Sprint(i, ".shop.test")), version(1))
	}
	read(site("b.shop.test"), version(1))
	if got := shared(); got != "" {
		t.Errorf("%d hosts are few, and %q is shared", minSharing-1, got)
	}
	read(site("a.shop.test"), version(1))
	if got := shared(); got != "1" {
		t.Errorf("all hosts have version 1, the shared one is %q", got)
	}
	read(Key{Server: ":443", Site: "", Secure: true, Host: "other.test"}, version(2))
	read(Key{Server: ":8443", Site: "*.shop.test", Secure: true, Host: "c.shop.test"}, version(2))
	read(Key{Server: ":443", Site: "*.shop.test", Host: "c.shop.test"}, version(2))
	if got := shared(); got != "1" {
		t.Errorf("another site, server or scheme has version 2, the shared one is %q", got)
	}
	read(site("b.shop.test"), version(2))
	if got := shared(); got != "" {
		t.Errorf("the hosts differ, and %q is shared", got)
	}
	read(site("a.shop.test"), version(2))
	for i := range minSharing - 2 {
		read(site(fmt.Sprint(i, ".shop.test")), version(2))
	}
	if got := shared(); got != "2" {
		t.Errorf("all hosts have version 2, the shared one is %q", got)
	}
	made := site("a.shop.test")
	made.Forwarded = "made.up.test"
	read(made, version(3))
	if got := shared(); got != "2" {
		t.Errorf("a client has made up what a proxy was asked for, and %q is shared", got)
	}
	made.Forwarded = "other.test"
	if s := c.Shared(made); s != nil {
		t.Errorf("the hosts that a proxy was asked for differ, and %q is shared by them", ruleOf(s.Good))
	}
	if n := testing.AllocsPerRun(100, func() { c.Shared(site("new.shop.test")) }); n != 0 {
		t.Errorf("Shared allocates %v times", n)
	}
}

// TestCacheSharedForwarded looks at what a host shares that a proxy was asked for: what both
// those hosts and those that clients ask for have.
func TestCacheSharedForwarded(t *testing.T) {
	all := slices.Repeat([]int{1}, minSharing)
	for _, tc := range []struct {
		name             string
		asked, forwarded []int // versions of their texts
		want             string
	}{
		{"nothing is known", nil, nil, ""},
		{"clients ask for one", []int{1}, nil, ""},
		{"clients ask for many", all, nil, "1"},
		{"clients ask for two that differ", []int{1, 2}, nil, ""},
		{"a proxy was asked for one", nil, []int{1}, ""},
		{"a proxy was asked for many", nil, all, "1"},
		{"a proxy was asked for two that differ", nil, []int{1, 2}, ""},
		{"both are the same", all[:minSharing/2], all[:minSharing/2], "1"},
		{"both are few", []int{1, 1}, []int{1, 1}, ""},
		{"both differ", []int{1}, []int{2}, ""},
		{"some differ", []int{1}, []int{1, 2}, ""},
		{"others differ", []int{1, 2}, []int{1}, ""},
		{"all differ", []int{1, 2}, []int{1, 2}, ""},
	} {
		c, _ := newTestCache(roomy)
		for i, n := range tc.asked {
			<-c.Add(Key{Site: "*.shop.test", Host: fmt.Sprint(i, ".shop.test")}, Invented).Refresh(holding(time.Hour), func() Answer { return version(n) }, nil)
		}
		for i, n := range tc.forwarded {
			<-c.Add(Key{Site: "*.shop.test", Host: "0.shop.test", Forwarded: fmt.Sprint(i, ".test")}, Invented).Refresh(holding(time.Hour), func() Answer { return version(n) }, nil)
		}
		got := ""
		if s := c.Shared(Key{Site: "*.shop.test", Host: "0.shop.test", Forwarded: "new.test"}); s != nil {
			got = ruleOf(s.Good)
		}
		if got != tc.want {
			t.Errorf("%s: %q is shared, want %q", tc.name, got, tc.want)
		}
	}
}

// TestCacheSharedBehindAProxy has hosts that a proxy was asked for at a site that is named itself:
// with a text of the site's own they have that, else each may be a site of its own.
func TestCacheSharedBehindAProxy(t *testing.T) {
	for _, tc := range []struct {
		own       bool
		forwarded int
		shared    bool
	}{{false, 1, false}, {false, minSharing - 1, false}, {false, minSharing, true}, {true, 0, true}, {true, 1, true}} {
		c, _ := newTestCache(roomy)
		read := func(key Key) {
			<-c.Add(key, key.Segment()).Refresh(holding(time.Hour), func() Answer { return version(1) }, nil)
		}
		key := Key{Site: "app.test", Host: "app.test"}
		if tc.own {
			read(key)
		}
		for i := range tc.forwarded {
			key.Forwarded = fmt.Sprint(i, ".test")
			read(key)
		}
		key.Forwarded = "new.test"
		if got := c.Shared(key) != nil; got != tc.shared {
			t.Errorf("own %t, %d forwarded: shared %t", tc.own, tc.forwarded, got)
		}
	}
}

// TestCacheEdits counts texts that come, change and go, and nothing else.
func TestCacheEdits(t *testing.T) {
	c, clock := newTestCache(Bounds{Entries: 2, Bytes: 1 << 20, Reads: 1})
	var edits uint64
	check := func(what string, more uint64) {
		t.Helper()
		if edits += more; c.Edits() != edits {
			t.Errorf("%s: %d edits, want %d", what, c.Edits(), edits)
			edits = c.Edits()
		}
	}
	for _, key := range []Key{{Host: "example.com"}, {Source: "/srv/robots.txt"}} {
		e := c.Add(key, Named)
		check("no text yet", 0)
		read := func(a Answer) {
			clock.advance(time.Hour)
			<-e.Refresh(holding(time.Hour), func() Answer { return a }, nil)
		}
		read(Answer{Status: 503})
		check("no text at all", 0)
		read(version(1))
		check("the first", 1)
		read(version(1))
		check("the same", 0)
		read(Answer{Status: 304})
		check("not modified", 0)
		read(Answer{Status: 503})
		check("not to be had", 0)
		read(version(2))
		check("another", 1)
		read(version(1))
		check("that of before", 1)
	}
	c.Add(Key{Host: "a third"}, Named)
	check("one is dropped", 2)
	c.Add(Key{Host: "a fourth"}, Named)
	c.Add(Key{Host: "a fifth"}, Named)
	check("two without a text are dropped", 2)
}
