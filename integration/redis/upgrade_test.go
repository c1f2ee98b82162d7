package redis

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestRollingUpgrade has two instances of an earlier build and two of this one on a
// storage, upgrades the former one after the other, and takes one back. Of an earlier
// build it asks only that it blocks by the text that it has read itself:
//
//	FLEET_OLD=/tmp/caddy-before go test ./integration/redis -run TestRollingUpgrade -v
func TestRollingUpgrade(t *testing.T) {
	old := os.Getenv("FLEET_OLD")
	if old == "" {
		t.Skip("needs FLEET_OLD, an earlier build of integration/redis/caddy")
	}
	t.Parallel()
	port := harness.FreePort(t)
	startRedis(t, port)
	o, robots := harness.NewChangingOrigin(t, closed)
	var members []*member
	for i, binary := range []string{old, old, harness.Binary(t), harness.Binary(t)} {
		m := newMember(t, port, i+1)
		join(t, m, binary, o.Address(), "")
		members = append(members, m)
	}
	all(t, "the first text counts", members, blocked(harness.Bingbot, "/private/x"))
	robots.Store(more)
	if _, text := members[3].asks(harness.Bingbot, "a.test", "/robots.txt"); !strings.Contains(text, "/new/") {
		t.Fatalf("served %s", text)
	}
	all(t, "a text that was read at one of this build", members[2:], blocked(harness.Bingbot, "/new/x"))
	again := func(m *member, binary string) {
		t.Helper()
		if err := m.Interrupt(20 * time.Second); err != nil {
			t.Error(err)
		}
		join(t, m, binary, o.Address(), "")
		for _, m := range members {
			if !blocked(harness.Bingbot, "/private/x")(m) {
				t.Errorf("the instance on port %s serves what is forbidden", m.port)
			}
		}
	}
	for _, m := range members[:2] {
		again(m, harness.Binary(t))
		if !blocked(harness.Bingbot, "/new/x")(m) {
			t.Error("an instance that was upgraded does not know what others have noted")
		}
	}
	again(members[0], old)
	for _, m := range members[1:] {
		if !blocked(harness.Bingbot, "/new/x")(m) {
			t.Errorf("the instance on port %s has forgotten who has read the text", m.port)
		}
	}
}
