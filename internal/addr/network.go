package addr

import "net/netip"

// Normal returns an address without a zone, and as IPv4 if it is IPv4-mapped.
func Normal(addr netip.Addr) netip.Addr {
	if addr.Is4() {
		return addr // as most are
	}
	return addr.Unmap().WithZone("")
}

// Network returns the network that stands for an address: its /24, or /48 for
// IPv6. It returns the zero Prefix for what is no address.
func Network(addr netip.Addr) netip.Prefix {
	addr = Normal(addr)
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
