package caddymodule

import (
	"net/netip"
	"strings"
	"testing"
)

func TestIsPublic(t *testing.T) {
	for _, addr := range strings.Fields(`
		1.1.1.1 8.8.8.8 93.184.215.14 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
		169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255
		198.20.0.0 223.255.255.255 ::ffff:1.1.1.1 64:ff9b::1.1.1.1
		2606:4700:4700::1111 2a00:1450:4001::1 2001:200::1 2001:4860:4860::8888 2003::1`) {
		if !isPublic(netip.MustParseAddr(addr)) {
			t.Errorf("%s is refused", addr)
		}
	}
	for _, addr := range strings.Fields(`
		0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1
		172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1
		224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
		:: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:127.0.0.1%eth0
		64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::1.1.1.1 100::1
		2001::1 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::1 2002:101:101::1 3fff::1 5f00::1
		fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 ff0e::1`) {
		if isPublic(netip.MustParseAddr(addr)) {
			t.Errorf("%s is let through", addr)
		}
	}
	if isPublic(netip.Addr{}) {
		t.Error("no address is let through")
	}
}

func TestRefusePrivate(t *testing.T) {
	if err := refusePrivate("tcp4", "1.1.1.1:443", nil); err != nil {
		t.Error(err)
	}
	for _, address := range []string{"127.0.0.1:80", "[fe80::1%eth0]:80", "nonsense", "localhost:80"} {
		if refusePrivate("tcp", address, nil) == nil {
			t.Errorf("%s is let through", address)
		}
	}
}
