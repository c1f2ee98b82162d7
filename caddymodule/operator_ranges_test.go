package caddymodule

import (
	"strings"
	"testing"
)

// TestOperatorRangesNeedLists checks that the IP source robots_guard needs the address lists of
// verify.
func TestOperatorRangesNeedLists(t *testing.T) {
	const servers = "servers {\n trusted_proxies robots_guard Google\n}\n"
	for _, tc := range []struct{ name, options, want string }{
		{"verify is off", "", `needs verify, which is off; add "verify on"`},
		{"the lists are off", "robots_guard {\n verify {\n ranges off\n}\n}\n", `needs address lists, which are off; remove "ranges off" from verify`},
		{"configured lists", "robots_guard {\n verify {\n ranges configured\n}\n}\n", ""},
	} {
		_, err := validate(t, "{\n"+tc.options+servers+"}\na.test {\n respond ok\n}\n")
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
}
