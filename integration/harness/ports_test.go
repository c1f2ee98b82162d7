package harness

import (
	"net"
	"testing"
)

// TestFreePort allocates more ports than a block has. The ports must differ and be
// free, and none may be the first port of a block.
func TestFreePort(t *testing.T) {
	seen := make(map[string]bool)
	for range 2*blockSize + 1 {
		port := FreePort(t)
		if seen[port] {
			t.Errorf("port %s was allocated twice", port)
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
			t.Errorf("port %s is also the first port of a block", port)
		}
	}
	if len(ports.claims) < 3 {
		t.Errorf("%d blocks for %d ports", len(ports.claims), len(seen))
	}
}
