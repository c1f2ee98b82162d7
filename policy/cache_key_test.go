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
		{"a site", Key{Site: "a.test", Host: "a.test"}, "http://a.test", "server", ConfiguredHosts},
		{"a site by https", Key{Site: "a.test", Host: "a.test", IsHTTPS: true}, "https://a.test", "server", ConfiguredHosts},
		{"a host that only a wildcard names", Key{Site: "*.a.test", Host: "b.a.test"}, "http://b.a.test", "server", UnknownHosts},
		{"a host that nothing names", Key{Host: "b.test"}, "http://b.test", "server", UnknownHosts},
		{"a site behind a proxy that was asked for another host", Key{Site: "a.test", Host: "a.test", ForwardedHost: "b.test"}, "http://a.test", "server", UnknownHosts},
		{"a URL", Key{Source: "https://c.test/robots.txt"}, "https://c.test/robots.txt", "url", ConfiguredHosts},
		{"a URL without TLS", Key{Source: "http://c.test/robots.txt"}, "http://c.test/robots.txt", "url", ConfiguredHosts},
		{"a URL for a host that only clients name", Key{Source: "https://c.test/b.test.txt", Site: "*.a.test", ForwardedHost: "b.a.test"}, "https://c.test/b.test.txt", "url", UnknownHosts},
		{"a file", Key{Source: "/srv/robots.txt"}, "/srv/robots.txt", "file", ConfiguredHosts},
		{"a file whose name is like a URL", Key{Source: "https:/c.test"}, "https:/c.test", "file", ConfiguredHosts},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.key.String(); got != tc.shown {
				t.Errorf("String returns %q, want %q", got, tc.shown)
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
