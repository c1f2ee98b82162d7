package addr

import (
	"net/netip"
	"testing"
)

func TestNetwork(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.77":          "192.0.2.0/24",
		"::ffff:192.0.2.77":   "192.0.2.0/24",
		"2001:db8:1:2::3":     "2001:db8:1::/48",
		"fe80::1%eth0":        "fe80::/48",
		"":                    "invalid Prefix",
		"not an address":      "invalid Prefix",
		"2001:db8:1:ffff::10": "2001:db8:1::/48",
	} {
		parsed, _ := netip.ParseAddr(addr)
		if got := NetworkOfAddr(parsed).String(); got != want {
			t.Errorf("Network(%q) = %s, want %s", addr, got, want)
		}
	}
}
