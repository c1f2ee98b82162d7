package site

import (
	"testing"
)

func TestNormalHost(t *testing.T) {
	for _, tc := range []struct {
		name, host string
		secure     bool
		want       string
	}{
		{"usual", "example.com", true, "example.com"},
		{"case", "EXAMPLE.com", true, "example.com"},
		{"default port of https", "example.com:443", true, "example.com"},
		{"default port of http", "example.com:80", false, "example.com"},
		{"the other scheme's default port", "example.com:80", true, "example.com:80"},
		{"port", "Example.com:8443", true, "example.com:8443"},
		{"trailing dot", "example.com.", true, "example.com"},
		{"trailing dot and port", "example.com.:8443", true, "example.com:8443"},
		{"trailing dot and default port", "example.com.:443", true, "example.com"},
		{"IDN", "Bücher.example", true, "xn--bcher-kva.example"},
		{"IDN with port", "bücher.example:81", false, "xn--bcher-kva.example:81"},
		{"IPv4", "192.0.2.1:80", false, "192.0.2.1"},
		{"IPv6", "[2001:DB8::1]", true, "[2001:db8::1]"},
		{"IPv6 with default port", "[2001:db8::1]:443", true, "[2001:db8::1]"},
		{"IPv6 with port", "[2001:db8::1]:8443", true, "[2001:db8::1]:8443"},
		{"underscore", "my_app.internal", true, "my_app.internal"},
		{"nonsense stays apart", "a b", true, "a b"},
		{"empty", "", true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := NormalizeHost(tc.host, tc.secure)
			if got != tc.want {
				t.Errorf("normalHost(%q, %t) = %q, want %q", tc.host, tc.secure, got, tc.want)
			}
			if again := NormalizeHost(got, tc.secure); again != got {
				t.Errorf("normalHost(%q) = %q, want the same", got, again)
			}
		})
	}
}

func TestNormalHostDoesNotAllocateForUsualHosts(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { NormalizeHost("www.example.com:8443", true) }); n != 0 {
		t.Errorf("allocates %v times", n)
	}
}
