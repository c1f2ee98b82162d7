package site

import (
	"fmt"
	"net/netip"
	"syscall"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
)

// refusePrivateAddress is a [net.Dialer] Control function that returns an error for nonpublic addresses.
func refusePrivateAddress(_, address string, _ syscall.RawConn) error {
	addrPort, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("refusing to connect to %s: %w", address, err)
	}
	if !addr.IsPublic(addrPort.Addr()) {
		return fmt.Errorf("refusing to connect to %s, which is not a public address; if that is intended, write allow_private on", addrPort.Addr())
	}
	return nil
}
