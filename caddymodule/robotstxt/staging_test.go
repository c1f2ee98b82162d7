package robotstxt

import "testing"

func TestHasHost(t *testing.T) {
	for _, tc := range []struct {
		host string
		some []string
		want bool
	}{
		{"www.a.test", nil, true},
		{"www.a.test", []string{"staging.a.test", "WWW.a.test"}, true},
		{"www.a.test", []string{"*.a.test"}, true},
		{"*.a.test", []string{"staging.a.test"}, true},
		{"*.a.test", []string{"*.a.test"}, true},
		{"a.test", []string{"*.a.test", "b.test"}, false},
		{"www.a.test", []string{"staging.a.test"}, false},
	} {
		if got := hostMatcher(tc.some)(tc.host); got != tc.want {
			t.Errorf("%s and %v: got %t", tc.host, tc.some, got)
		}
	}
}
