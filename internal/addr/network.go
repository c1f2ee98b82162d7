package addr

import "net/netip"

// Normalize returns an address without a zone. Normalize converts an IPv4-mapped address to IPv4.
func Normalize(addr netip.Addr) netip.Addr {
	if addr.Is4() {
		return addr // most addresses
	}
	return addr.Unmap().WithZone("")
}

// Network returns the network of an address: the /24, or the /48 for IPv6. Network returns the zero
// Prefix for an invalid address.
func Network(addr netip.Addr) netip.Prefix {
	addr = Normalize(addr)
	bits := 24
	if addr.Is6() {
		bits = 48
	}
	network, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return network
}
