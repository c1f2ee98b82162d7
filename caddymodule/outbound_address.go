package caddymodule

import (
	"fmt"
	"net/netip"
	"slices"
	"syscall"
)

// refusePrivate is a [net.Dialer] Control function. It lets connections to
// public addresses pass only.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("refusing to connect to %s: %w", address, err)
	}
	if !isPublic(to.Addr()) {
		return fmt.Errorf("refusing to connect to %s, which is no public address; if that is meant, write allow_private on", to.Addr())
	}
	return nil
}

// isPublic reports whether an address belongs to the public Internet.
func isPublic(addr netip.Addr) bool {
	addr = addr.WithZone("").Unmap()
	if nat64.Contains(addr) {
		// A gateway translates it to the IPv4 address in its last four bytes
		// (RFC 6052 section 2.2).
		embedded := addr.As16()
		addr = netip.AddrFrom4([4]byte(embedded[12:]))
	}
	if !addr.Is4() && !globalUnicast.Contains(addr) {
		return false
	}
	contains := func(p netip.Prefix) bool { return p.Contains(addr) }
	return !slices.ContainsFunc(special, contains) && !slices.ContainsFunc(platforms, contains)
}

var (
	nat64 = netip.MustParsePrefix("64:ff9b::/96")

	// globalUnicast is all that IANA gives out for IPv6. Loopback, unique local,
	// link-local, multicast, IPv4-compatible and others are outside.
	globalUnicast = netip.MustParsePrefix("2000::/3")
)

// special lists what the IANA special-purpose address registries (RFC 6890)
// hold no web server of the public Internet in.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this host, this network
	netip.MustParsePrefix("10.0.0.0/8"),      // private
	netip.MustParsePrefix("100.64.0.0/10"),   // carrier-grade NAT, metadata of Alibaba Cloud
	netip.MustParsePrefix("127.0.0.0/8"),     // loopback
	netip.MustParsePrefix("169.254.0.0/16"),  // link-local, metadata of most clouds
	netip.MustParsePrefix("172.16.0.0/12"),   // private
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments, metadata of Oracle Cloud
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("192.88.99.0/24"),  // 6to4 relays
	netip.MustParsePrefix("192.168.0.0/16"),  // private
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarking
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("224.0.0.0/4"),     // multicast
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, broadcast
	netip.MustParsePrefix("2001::/23"),       // protocol assignments: Teredo, benchmarking, ORCHID
	netip.MustParsePrefix("2001:db8::/32"),   // documentation
	netip.MustParsePrefix("2002::/16"),       // 6to4, which embeds IPv4 addresses
	netip.MustParsePrefix("3fff::/20"),       // documentation
}

// platforms lists addresses that look public and are those of a cloud to its own
// machines: metadata, agents, private ways to interfaces. No registry says so,
// only the clouds do. Others of theirs are among the special ones or, as
// fd00:ec2::254 and fd20:ce::254, no global unicast.
var platforms = []netip.Prefix{
	// Azure: agent, DNS, DHCP and the state of the machine.
	// https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
	netip.MustParsePrefix("168.63.129.16/32"),
	// Google Cloud: restricted.googleapis.com and private.googleapis.com.
	// https://cloud.google.com/vpc/docs/configure-private-google-access
	netip.MustParsePrefix("199.36.153.4/30"),
	netip.MustParsePrefix("199.36.153.8/30"),
	netip.MustParsePrefix("2600:2d00:2:1000::/56"),
	netip.MustParsePrefix("2600:2d00:2:2000::/56"),
	// IBM Cloud: services of the infrastructure, and service endpoints.
	// https://cloud.ibm.com/docs/vpc?topic=vpc-service-endpoints-for-vpc
	netip.MustParsePrefix("161.26.0.0/16"),
	netip.MustParsePrefix("166.8.0.0/14"),
}
