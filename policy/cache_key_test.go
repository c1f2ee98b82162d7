package policy

import "testing"

func TestKey(t *testing.T) {
	for _, tc := range []struct {
		name    string
		key     Key
		shown   string
		kind    string
		segment Segment
	}{
		{"a site", Key{Site: "a.test", Host: "a.test"}, "http://a.test", "server", Named},
		{"a site by https", Key{Site: "a.test", Host: "a.test", Secure: true}, "https://a.test", "server", Named},
		{"a host that only a wildcard names", Key{Site: "*.a.test", Host: "b.a.test"}, "http://b.a.test", "server", Invented},
		{"a host that nothing names", Key{Host: "b.test"}, "http://b.test", "server", Invented},
		{"a site behind a proxy that was asked for another host", Key{Site: "a.test", Host: "a.test", ForwardedHost: "b.test"}, "http://a.test", "server", Invented},
		{"a URL", Key{Source: "https://c.test/robots.txt"}, "https://c.test/robots.txt", "url", Named},
		{"a URL without TLS", Key{Source: "http://c.test/robots.txt"}, "http://c.test/robots.txt", "url", Named},
		{"a URL for a host that only clients name", Key{Source: "https://c.test/b.test.txt", Site: "*.a.test", ForwardedHost: "b.a.test"}, "https://c.test/b.test.txt", "url", Invented},
		{"a file", Key{Source: "/srv/robots.txt"}, "/srv/robots.txt", "file", Named},
		{"a file whose name is like a URL", Key{Source: "https:/c.test"}, "https:/c.test", "file", Named},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.key.String(); got != tc.shown {
				t.Errorf("shown as %q, want %q", got, tc.shown)
			}
			if got := tc.key.SourceKind(); got != tc.kind {
				t.Errorf("source %q, want %q", got, tc.kind)
			}
			if got := tc.key.IsFile(); got != (tc.kind == "file") {
				t.Errorf("is a file: %t", got)
			}
			if got := tc.key.Segment(); got != tc.segment {
				t.Errorf("segment %v, want %v", got, tc.segment)
			}
		})
	}
}
