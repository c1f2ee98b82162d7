package verify

import (
	"net/netip"
	"strings"
	"testing"
)

func TestIsPublic(t *testing.T) {
	for _, addr := range strings.Fields(`
		1.1.1.1 66.249.66.1 100.63.255.255 100.128.0.0 168.63.129.15 168.63.129.17 172.15.255.255 172.32.0.0 192.0.1.0 198.17.255.255 198.20.0.0
		192.0.2.1 198.51.100.1 203.0.113.1 223.255.255.255
		2001:4860:4801::1 2a03:2880::1 2001:db8::1 2001:200::1 2002:102:304::1 3fff::1`) {
		if !isPublic(netip.MustParseAddr(addr)) {
			t.Errorf("%s is none of the Internet", addr)
		}
	}
	for _, addr := range strings.Fields(`
		0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 168.63.129.16 169.254.169.254 172.16.0.1 192.0.0.192 192.168.1.1 198.18.0.1 224.0.0.1 255.255.255.255
		:: ::1 fe80::1 fc00::1 fd00:ec2::254 ff02::1 64:ff9b::10.0.0.1 2001:2::1 2001:10::1 2001:20::1 2001:2f:ffff::1`) {
		if isPublic(netip.MustParseAddr(addr)) {
			t.Errorf("%s is one of the Internet", addr)
		}
	}
	if isPublic(netip.Addr{}) {
		t.Error("no address is one of the Internet")
	}
}
