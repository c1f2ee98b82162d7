package addr

import (
	"net/netip"
	"strings"
	"testing"
)

func TestIsPublic(t *testing.T) {
	for _, addr := range strings.Fields(`
		1.1.1.1 8.8.8.8 93.184.215.14 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
		169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.31.195.255 192.31.197.0 192.52.194.0
		192.88.98.0 192.167.255.255 192.169.0.0 192.175.49.0 198.17.255.255
		198.20.0.0 168.63.129.15 168.63.129.17 199.36.153.3 199.36.153.12 161.25.255.255 161.27.0.0 166.7.255.255 166.12.0.0
		2600:2d00:2:1100::1 64:ff9b::168.63.129.17 223.255.255.255 ::ffff:1.1.1.1 64:ff9b::1.1.1.1
		2606:4700:4700::1111 2a00:1450:4001::1 2001:200::1 2001:4860:4860::8888 2003::1 2620:4f:8001::1 2000::1 3ffe::1 2001:db9::1`) {
		if !IsPublic(netip.MustParseAddr(addr)) {
			t.Errorf("%s is not public, want public", addr)
		}
	}
	for _, addr := range strings.Fields(`
		0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1
		172.31.255.255 192.0.0.8 192.0.0.9 192.0.0.170 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.1.1 192.175.48.6
		198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
		:: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:127.0.0.1%eth0
		64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::1.1.1.1 64:ff9b::1:1.1.1.1 100::1 100:0:0:1::1
		2001::1 2001:1::1 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff:ffff::1 2001:db8::1
		2002:7f00:1::1 2002:101:101::1 2620:4f:8000::1 3fff::1 3fff:fff::1 5f00::1
		100.100.100.200 100.100.2.136 192.0.0.192 169.254.169.253 169.254.170.2 169.254.170.23 169.254.42.42 169.254.0.23
		168.63.129.16 ::ffff:168.63.129.16 64:ff9b::168.63.129.16 2002:a83f:8110::1 ::168.63.129.16 64:ff9b::100.100.100.200
		199.36.153.4 199.36.153.7 199.36.153.8 199.36.153.11 2600:2d00:2:1000::1 2600:2d00:2:2000::1 161.26.0.10 166.9.14.2
		fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:42::42 fd00:a9fe:a9fe::1 fe80::a9fe:a9fe%eth0 2001:0:a9fe:a9fe::1
		2002:a9fe:a9fe::1 ::ffff:0:169.254.169.254
		fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 ff0e::1 4000::1`) {
		if IsPublic(netip.MustParseAddr(addr)) {
			t.Errorf("%s is public, want not public", addr)
		}
	}
	if IsPublic(netip.Addr{}) {
		t.Error("the zero address is public")
	}
}

func TestFromInternet(t *testing.T) {
	for _, addr := range strings.Fields(`
		1.1.1.1 66.249.66.1 100.63.255.255 100.128.0.0 168.63.129.15 168.63.129.17 172.15.255.255 172.32.0.0 192.0.1.0 198.17.255.255 198.20.0.0
		192.0.2.1 198.51.100.1 203.0.113.1 223.255.255.255 ::ffff:66.249.66.1 199.36.153.12
		9.255.255.255 11.0.0.0 172.15.0.1 172.32.0.1 198.17.0.1 198.20.0.1
		2001:4860:4801::1 2a03:2880::1 2001:db8::1 2001:200::1 2002:102:304::1 2001::1 3fff::1 2001:4860:4801::1%eth0`) {
		if !MayBeFromInternet(netip.MustParseAddr(addr)) {
			t.Errorf("%s is not from the Internet", addr)
		}
	}
	for _, addr := range strings.Fields(`
		0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 168.63.129.16 169.254.169.254 172.16.0.1 192.0.0.192 192.168.1.1 198.18.0.1 224.0.0.1 255.255.255.255
		0.0.0.1 10.0.0.0 100.127.255.255 172.31.255.255 192.0.0.8 198.19.0.1
		199.36.153.4 161.26.0.10 166.9.14.2 2600:2d00:2:1000::1 ::ffff:10.1.2.3
		:: ::1 fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 ff02::1 64:ff9b::10.0.0.1 64:ff9b::66.249.66.1 2001:2::1 2001:10::1 2001:20::1 2001:2f:ffff::1`) {
		if MayBeFromInternet(netip.MustParseAddr(addr)) {
			t.Errorf("%s is from the Internet", addr)
		}
	}
	if MayBeFromInternet(netip.Addr{}) {
		t.Error("the zero address is from the Internet")
	}
}

// TestEveryBlock checks the first and the last address of each block, because the tables index
// blocks by the first byte.
func TestEveryBlock(t *testing.T) {
	blocks := append(append([]reservedBlock(nil), registered4...), platforms4...)
	blocks = append(append(blocks, registered6...), platforms6...)
	for _, b := range blocks {
		if b.Prefix != b.Masked() {
			t.Errorf("%s has bits after the prefix length", b.Prefix)
		}
		for _, addr := range []netip.Addr{b.Addr(), last(b.Prefix)} {
			if IsPublic(addr) || MayBeFromInternet(addr) && !b.isSource {
				t.Errorf("%s of %s: public %t, from the Internet %t", addr, b.Prefix, IsPublic(addr), MayBeFromInternet(addr))
			}
		}
	}
}

// last returns the last address of a prefix.
func last(p netip.Prefix) netip.Addr {
	bytes := p.Addr().AsSlice()
	for bit := p.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 0x80 >> (bit % 8)
	}
	addr, _ := netip.AddrFromSlice(bytes)
	return addr
}

func BenchmarkFromInternet(b *testing.B) {
	for _, addr := range []netip.Addr{netip.MustParseAddr("66.249.66.1"), netip.MustParseAddr("192.88.98.1"), netip.MustParseAddr("2001:4860:4801::1")} {
		b.Run(addr.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				MayBeFromInternet(addr)
			}
		})
	}
}
