package addr

import (
	"encoding/binary"
	"net/netip"
)

// IsPublic reports whether an address may belong to a public web server. Use it before
// connecting to an address that others choose. Addresses of 6to4 and Teredo are not public. A
// NAT64 address is public if the embedded IPv4 address is.
func IsPublic(addr netip.Addr) bool {
	addr = Normal(addr)
	if nat64.Contains(addr) {
		// RFC 6052 section 2.2: the IPv4 address is in the last four bytes.
		embedded := addr.As16()
		addr = netip.AddrFrom4([4]byte(embedded[12:]))
	}
	return blockOf(addr) == nil
}

// FromInternet reports whether a request from the public Internet can have the address. Unlike
// [IsPublic], it includes 6to4 and Teredo, whose hosts also send requests, and it excludes
// NAT64 addresses. It includes the addresses for documentation, for examples and tests.
func FromInternet(addr netip.Addr) bool {
	b := blockOf(Normal(addr))
	return b == nil || b.sends
}

// block is a block of reserved addresses.
type block struct {
	netip.Prefix
	sends bool // requests may come from the block

	first, mask uint64 // the prefix as numbers, see top
}

func at(prefix string, sends bool) block {
	p := netip.MustParsePrefix(prefix)
	return block{Prefix: p, sends: sends, first: top(p.Addr()), mask: ^uint64(0) << (64 - p.Bits())}
}

// top returns the first 64 bits of an IPv6 address, or the 32 bits of an IPv4 address. No block
// has a longer prefix.
func top(addr netip.Addr) uint64 {
	if addr.Is4() {
		b := addr.As4()
		return uint64(binary.BigEndian.Uint32(b[:])) << 32
	}
	b := addr.As16()
	return binary.BigEndian.Uint64(b[:])
}

// elsewhere is for addresses outside the allocated space.
var elsewhere block

// blockOf returns the block of a normal address, or nil.
func blockOf(addr netip.Addr) *block {
	n := top(addr)
	blocks := special4[n>>56]
	if !addr.Is4() {
		if n>>61 != globalUnicast {
			return &elsewhere
		}
		blocks = special6[n>>56]
	}
	for _, b := range blocks {
		if n&b.mask == b.first {
			return b
		}
	}
	return nil
}

// globalUnicast is the prefix of all allocated IPv6 addresses: 2000::/3. Loopback, unique local,
// link-local, multicast and IPv4-compatible addresses are outside.
const globalUnicast = 0b001

var (
	nat64 = netip.MustParsePrefix("64:ff9b::/96")

	special4 = byFirstByte(registered4, platforms4)
	special6 = byFirstByte(registered6, platforms6)
)

// byFirstByte groups blocks by the first byte of their addresses. Most addresses begin with a
// byte that no block has.
func byFirstByte(lists ...[]block) (sorted [256][]*block) {
	for _, list := range lists {
		for i := range list {
			b := &list[i]
			for n := b.first >> 56; n <= (b.first|^b.mask)>>56; n++ {
				sorted[n] = append(sorted[n], b)
			}
		}
	}
	return sorted
}

const sends = true

// registered4 lists the blocks of the IANA IPv4 special-purpose address registry (RFC 6890) that
// have no public web servers.
// https://www.iana.org/assignments/iana-ipv4-special-registry/
var registered4 = []block{
	at("0.0.0.0/8", !sends),      // this host, this network
	at("10.0.0.0/8", !sends),     // private
	at("100.64.0.0/10", !sends),  // carrier-grade NAT, metadata of Alibaba Cloud
	at("127.0.0.0/8", !sends),    // loopback
	at("169.254.0.0/16", !sends), // link-local, metadata of most clouds
	at("172.16.0.0/12", !sends),  // private
	at("192.0.0.0/24", !sends),   // protocol assignments, metadata of Oracle Cloud
	at("192.0.2.0/24", sends),    // documentation
	at("192.31.196.0/24", sends), // AS112, which many networks serve internally
	at("192.52.193.0/24", sends), // AMT relays
	at("192.88.99.0/24", sends),  // 6to4 relays
	at("192.168.0.0/16", !sends), // private
	at("192.175.48.0/24", sends), // AS112
	at("198.18.0.0/15", !sends),  // benchmarking
	at("198.51.100.0/24", sends), // documentation
	at("203.0.113.0/24", sends),  // documentation
	at("224.0.0.0/4", !sends),    // multicast
	at("240.0.0.0/4", !sends),    // reserved, broadcast
}

// registered6 is the same for IPv6. The first matching block applies.
// https://www.iana.org/assignments/iana-ipv6-special-registry/
var registered6 = []block{
	at("2001:2::/48", !sends),      // benchmarking (RFC 5180)
	at("2001:10::/28", !sends),     // ORCHID (RFC 4843)
	at("2001:20::/28", !sends),     // ORCHIDv2 (RFC 7343)
	at("2001::/23", sends),         // protocol assignments: Teredo, relays, others
	at("2001:db8::/32", sends),     // documentation
	at("2002::/16", sends),         // 6to4, which embeds IPv4 addresses
	at("2620:4f:8000::/48", sends), // AS112
	at("3fff::/20", sends),         // documentation
}

// platforms4 and platforms6 list addresses that look public but that clouds use for their own
// machines: metadata, agents, health probes, private access to APIs. The clouds document them,
// not a registry. Other such addresses are in the registered blocks or, as fd00:ec2::254 and
// fd20:ce::254, not global unicast.
var (
	platforms4 = []block{
		// Azure: agent, DNS, DHCP, health probes and the state of the machine.
		// https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
		at("168.63.129.16/32", !sends),
		// Google Cloud: restricted.googleapis.com and private.googleapis.com.
		// https://cloud.google.com/vpc/docs/configure-private-google-access
		at("199.36.153.4/30", !sends),
		at("199.36.153.8/30", !sends),
		// IBM Cloud: services of the infrastructure, and service endpoints.
		// https://cloud.ibm.com/docs/vpc?topic=vpc-service-endpoints-for-vpc
		at("161.26.0.0/16", !sends),
		at("166.8.0.0/14", !sends),
	}
	platforms6 = []block{
		// Google Cloud, the same as above.
		at("2600:2d00:2:1000::/56", !sends),
		at("2600:2d00:2:2000::/56", !sends),
	}
)
