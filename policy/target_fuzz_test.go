package policy

import (
	"net/url"
	"strings"
	"testing"
)

// FuzzOriginForm compares the path and query of a target with those of net/http, which later
// handlers use.
func FuzzOriginForm(f *testing.F) {
	for _, seed := range []string{"/a?b", "http://a.test/b?c", "http://a.test?c", "http:/a", "x:///a", "//a/b", "http://u:p@a.test:80//b/../c", "x:/a://b/c", "/a://b/c?://d", "*"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || u.Opaque != "" || target == "*" { // x:y and * have neither path nor query
			return
		}
		path, query, _ := strings.Cut(toOriginForm(target), "?")
		if decoded, err := url.PathUnescape(path); err != nil || decoded != u.Path && (u.Path != "" || decoded != "/") || query != u.RawQuery {
			t.Errorf("%q is judged by %q and %q, net/http finds %q and %q", target, path, query, u.Path, u.RawQuery)
		}
	})
}
