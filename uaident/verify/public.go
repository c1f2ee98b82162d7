package verify

import "net/netip"

var globalUnicast6 = netip.MustParsePrefix("2000::/3")

// isPublic reports whether a request from the public Internet can have the
// address: whether it is none that the IANA special-purpose registries (RFC 6890)
// keep for other uses. Those for documentation count as public, the zero Addr does
// not. addr must be neither IPv4-mapped nor have a zone.
func isPublic(addr netip.Addr) bool {
	if !addr.Is4() {
		return globalUnicast6.Contains(addr)
	}
	b := addr.As4()
	switch {
	case b[0] == 0, b[0] == 10, b[0] == 127, b[0] >= 224,
		b[0] == 100 && b[1]&0xc0 == 64, // carrier-grade NAT
		b[0] == 169 && b[1] == 254,
		b[0] == 172 && b[1]&0xf0 == 16,
		b[0] == 192 && b[1] == 0 && b[2] == 0,
		b[0] == 192 && b[1] == 168,
		b[0] == 198 && b[1]&0xfe == 18: // benchmarking
		return false
	}
	return true
}
