package harness

import (
	"net"
	"testing"
)

// TestFreePort hands out more ports than a block has. They are all different, can
// be used, and none is one by which a block is claimed.
func TestFreePort(t *testing.T) {
	seen := make(map[string]bool)
	for range 2*blockSize + 1 {
		port := FreePort(t)
		if seen[port] {
			t.Errorf("%s was given away twice", port)
		}
		seen[port] = true
		l, err := net.Listen("tcp", ":"+port)
		if err != nil {
			t.Error(err)
			continue
		}
		_ = l.Close()
	}
	for _, claim := range ports.claims {
		if _, port, _ := net.SplitHostPort(claim.Addr().String()); seen[port] {
			t.Errorf("%s is both a claim and a port", port)
		}
	}
	if len(ports.claims) < 3 {
		t.Errorf("%d blocks for %d ports", len(ports.claims), len(seen))
	}
}
