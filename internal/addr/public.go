package addr

import (
	"encoding/binary"
	"net/netip"
)

// IsPublic reports whether an address may belong to a public web server. Call IsPublic before
// connecting to an address from an untrusted source. Addresses of 6to4 and Teredo are not public. A
// NAT64 address is public if the embedded IPv4 address is public.
func IsPublic(addr netip.Addr) bool {
	addr = Normalize(addr)
	if nat64.Contains(addr) {
		// RFC 6052 section 2.2: the IPv4 address is in the last four bytes.
		embedded := addr.As16()
		addr = netip.AddrFrom4([4]byte(embedded[12:]))
	}
	return findReservedBlock(addr) == nil
}

// MayBeFromInternet reports whether a request from the public Internet can have the address. Unlike
// [IsPublic], MayBeFromInternet includes 6to4 and Teredo, whose hosts also send requests, and excludes
// NAT64. MayBeFromInternet includes the addresses for documentation, which examples and tests use.
func MayBeFromInternet(addr netip.Addr) bool {
	b := findReservedBlock(Normalize(addr))
	return b == nil || b.isSource
}

// reservedBlock is a block of reserved addresses.
type reservedBlock struct {
	netip.Prefix
	isSource bool // isSource is true if requests may come from the block.

	prefixBits, prefixMask uint64 // prefixBits has the first bits of the prefix, and prefixMask the bits that are compared.
}

func newReservedBlock(prefix string, sends bool) reservedBlock {
	p := netip.MustParsePrefix(prefix)
	return reservedBlock{Prefix: p, isSource: sends, prefixBits: highBits(p.Addr()), prefixMask: ^uint64(0) << (64 - p.Bits())}
}

// highBits returns the first 64 bits of an IPv6 address. For an IPv4 address, the upper 32 bits of
// the result are the address, and the lower bits are 0. No reserved block has a prefix longer than
// 64 bits.
func highBits(addr netip.Addr) uint64 {
	if addr.Is4() {
		b := addr.As4()
		return uint64(binary.BigEndian.Uint32(b[:])) << 32
	}
	b := addr.As16()
	return binary.BigEndian.Uint64(b[:])
}

// unallocated is for addresses outside the allocated space.
var unallocated reservedBlock

// findReservedBlock returns the reserved block of a normalized address, or nil for a public
// address.
func findReservedBlock(addr netip.Addr) *reservedBlock {
	n := highBits(addr)
	blocks := special4[n>>56]
	if !addr.Is4() {
		if n>>61 != globalUnicast {
			return &unallocated
		}
		blocks = special6[n>>56]
	}
	for _, b := range blocks {
		if n&b.prefixMask == b.prefixBits {
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

	special4 = groupByFirstByte(registered4, platforms4)
	special6 = groupByFirstByte(registered6, platforms6)
)

// groupByFirstByte groups blocks by the first byte of their addresses, so that the search of most
// addresses compares no block.
func groupByFirstByte(lists ...[]reservedBlock) (sorted [256][]*reservedBlock) {
	for _, list := range lists {
		for i := range list {
			b := &list[i]
			for n := b.prefixBits >> 56; n <= (b.prefixBits|^b.prefixMask)>>56; n++ {
				sorted[n] = append(sorted[n], b)
			}
		}
	}
	return sorted
}

const isSource = true

// registered4 lists the blocks of the IANA IPv4 special-purpose address registry (RFC 6890) that
// have no public web servers.
// https://www.iana.org/assignments/iana-ipv4-special-registry/
var registered4 = []reservedBlock{
	newReservedBlock("0.0.0.0/8", !isSource),  // This is for this host and this network.
	newReservedBlock("10.0.0.0/8", !isSource), // This is a private network.
	// This is for carrier-grade NAT, and for metadata of Alibaba Cloud.
	newReservedBlock("100.64.0.0/10", !isSource),
	newReservedBlock("127.0.0.0/8", !isSource),    // This is loopback.
	newReservedBlock("169.254.0.0/16", !isSource), // This is link-local, and metadata of most clouds.
	newReservedBlock("172.16.0.0/12", !isSource),  // This is a private network.
	newReservedBlock("192.0.0.0/24", !isSource),   // These are protocol assignments, and metadata of Oracle Cloud.
	newReservedBlock("192.0.2.0/24", isSource),    // This is for documentation.
	newReservedBlock("192.31.196.0/24", isSource), // This is AS112, which many networks serve internally.
	newReservedBlock("192.52.193.0/24", isSource), // These are AMT relays.
	newReservedBlock("192.88.99.0/24", isSource),  // These are 6to4 relays.
	newReservedBlock("192.168.0.0/16", !isSource), // This is a private network.
	newReservedBlock("192.175.48.0/24", isSource), // This is AS112.
	newReservedBlock("198.18.0.0/15", !isSource),  // This is for benchmarking.
	newReservedBlock("198.51.100.0/24", isSource), // This is for documentation.
	newReservedBlock("203.0.113.0/24", isSource),  // This is for documentation.
	newReservedBlock("224.0.0.0/4", !isSource),    // This is multicast.
	newReservedBlock("240.0.0.0/4", !isSource),    // This is reserved, and broadcast.
}

// registered6 is the same for IPv6. The first matching block applies.
// https://www.iana.org/assignments/iana-ipv6-special-registry/
var registered6 = []reservedBlock{
	newReservedBlock("2001:2::/48", !isSource),      // This is for benchmarking (RFC 5180).
	newReservedBlock("2001:10::/28", !isSource),     // This is ORCHID (RFC 4843).
	newReservedBlock("2001:20::/28", !isSource),     // This is ORCHIDv2 (RFC 7343).
	newReservedBlock("2001::/23", isSource),         // These are protocol assignments: Teredo, relays and others.
	newReservedBlock("2001:db8::/32", isSource),     // This is for documentation.
	newReservedBlock("2002::/16", isSource),         // This is 6to4, which embeds IPv4 addresses.
	newReservedBlock("2620:4f:8000::/48", isSource), // This is AS112.
	newReservedBlock("3fff::/20", isSource),         // This is for documentation.
}

// platforms4 and platforms6 list addresses that look public, but that clouds use for metadata,
// agents, health probes or private access to APIs. The sources are the documents of the clouds.
// Other cloud addresses are in the registered blocks, or are not global unicast, such as
// fd00:ec2::254 and fd20:ce::254.
var (
	platforms4 = []reservedBlock{
		// Azure uses it for the agent, DNS, DHCP, health probes and the state of the machine.
		// https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
		newReservedBlock("168.63.129.16/32", !isSource),
		// Google Cloud uses these for restricted.googleapis.com and private.googleapis.com.
		// https://cloud.google.com/vpc/docs/configure-private-google-access
		newReservedBlock("199.36.153.4/30", !isSource),
		newReservedBlock("199.36.153.8/30", !isSource),
		// IBM Cloud uses these for services of the infrastructure, and for service endpoints.
		// https://cloud.ibm.com/docs/vpc?topic=vpc-service-endpoints-for-vpc
		newReservedBlock("161.26.0.0/16", !isSource),
		newReservedBlock("166.8.0.0/14", !isSource),
	}
	platforms6 = []reservedBlock{
		// Google Cloud uses these for the same as above.
		newReservedBlock("2600:2d00:2:1000::/56", !isSource),
		newReservedBlock("2600:2d00:2:2000::/56", !isSource),
	}
)
