package verify

import (
	"net/netip"
	"slices"
)

var (
	globalUnicast6 = netip.MustParsePrefix("2000::/3")

	// special6 are those of its addresses that no packet on the Internet comes
	// from.
	special6 = []netip.Prefix{
		netip.MustParsePrefix("2001:2::/48"),  // benchmarking (RFC 5180)
		netip.MustParsePrefix("2001:10::/28"), // ORCHID (RFC 4843)
		netip.MustParsePrefix("2001:20::/28"), // ORCHIDv2 (RFC 7343)
	}

	// azurePlatform is where the health probes of Azure's load balancers come
	// from, and nothing else:
	// https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
	azurePlatform = netip.AddrFrom4([4]byte{168, 63, 129, 16})
)

// isPublic reports whether a request from the public Internet can have the
// address: whether it is none that the IANA special-purpose registries (RFC 6890)
// or a cloud keep for other uses. Those for documentation count as public, the
// zero Addr does not. addr must be neither IPv4-mapped nor have a zone.
func isPublic(addr netip.Addr) bool {
	if !addr.Is4() {
		return globalUnicast6.Contains(addr) && !slices.ContainsFunc(special6, func(p netip.Prefix) bool { return p.Contains(addr) })
	}
	b := addr.As4()
	switch {
	case b[0] == 0, b[0] == 10, b[0] == 127, b[0] >= 224,
		b[0] == 100 && b[1]&0xc0 == 64, // carrier-grade NAT
		b[0] == 169 && b[1] == 254,
		b[0] == 172 && b[1]&0xf0 == 16,
		b[0] == 192 && b[1] == 0 && b[2] == 0,
		b[0] == 192 && b[1] == 168,
		b[0] == 198 && b[1]&0xfe == 18, // benchmarking
		addr == azurePlatform:
		return false
	}
	return true
}
