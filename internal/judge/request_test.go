package judge

import "testing"

// TestDecodedPath reads paths out of targets, where nobody has done so before.
func TestDecodedPath(t *testing.T) {
	for _, tc := range []struct{ path, target, want string }{
		{"", "/x", "/x"},
		{"", "/x?/y", "/x"},
		{"", "/%78%2fy", "/x/y"},
		{"", "/%zz", "/%zz"},
		{"/known", "/x", "/known"},
		{"", "https://a.test/x?y", "/x"},
		{"", "https://a.test", "/"},
		{"", "https://a.test?/x", "/"},
		{"", "https:///x", "/x"},
		{"", "https://?/x", "/"},
		{"", "/x?u=http://b.test/y", "/x"},
		{"", "x:y://a.test/x", "x:y://a.test/x"},
		{"", "*", "*"},
		{"", "", ""},
	} {
		if got := (&Request{Path: tc.path, Target: tc.target}).DecodedPath(); got != tc.want {
			t.Errorf("%q, %q: %q, want %q", tc.path, tc.target, got, tc.want)
		}
	}
}
