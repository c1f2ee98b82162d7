package addr

import "testing"

func TestAuthority(t *testing.T) {
	for url, want := range map[string]string{
		"https://a.test":            "a.test",
		"https://A.test:8443/x?y#z": "A.test:8443",
		"http://[2001:db8::1]:80?x": "[2001:db8::1]:80",
		"http://a.test#x":           "a.test",
		"http://":                   "",
		"http:///x":                 "",
		"http://anna:x@a.test:80/@": "a.test:80",
		"http://a@b@a.test":         "a.test",
		"http://a.test/@b":          "a.test",
		"/x":                        "",
		"":                          "",
	} {
		if got := AuthorityOfURL(url); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
}

func TestSplitPort(t *testing.T) {
	for _, tc := range []struct{ authority, host, port string }{
		{"", "", ""},
		{"a.example", "a.example", ""},
		{"a.example:80", "a.example", ":80"},
		{"a.example:", "a.example", ":"},
		{":80", "", ":80"},
		{"[::1]", "[::1]", ""},
		{"[::1]:80", "[::1]", ":80"},
		{"[2001:db8::1%25eth0]:8080", "[2001:db8::1%25eth0]", ":8080"},
		{"::1", ":", ":1"}, // not a valid authority, so any result is correct
		{"a:b:c", "a:b", ":c"},
		{"a:80]", "a:80]", ""},
	} {
		if host, port := SplitPort(tc.authority); host != tc.host || port != tc.port {
			t.Errorf("%q is %q and %q, want %q and %q", tc.authority, host, port, tc.host, tc.port)
		}
	}
}

func TestUnbracket(t *testing.T) {
	for host, want := range map[string]string{
		"": "", "a.example": "a.example", "[::1]": "::1", "[]": "", "[": "[", "]": "]", "[::1": "[::1", "::1]": "::1]",
	} {
		if got := Unbracket(host); got != want {
			t.Errorf("%q is %q, want %q", host, got, want)
		}
	}
}
