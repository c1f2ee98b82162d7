package addr

import "net/netip"

// Normalize returns an IP address without a zone, and an IPv4-mapped address as IPv4.
func Normalize(addr netip.Addr) netip.Addr {
	if addr.Is4() {
		return addr // This is a fast path for most addresses.
	}
	return addr.Unmap().WithZone("")
}

// NetworkOfAddr returns the /24 network of an IPv4 address, or the /48 network of an IPv6 address.
// NetworkOfAddr returns the zero Prefix for an invalid address.
func NetworkOfAddr(addr netip.Addr) netip.Prefix {
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
