package readers

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestServedTextsAreBounded confirms more texts than there is room for.
func TestServedTextsAreBounded(t *testing.T) {
	var s Texts
	long := strings.Repeat("Disallow: /x\n", 30_000)
	for i := range 200 {
		of := policy.Key{Site: fmt.Sprintf("%d.test", i/4), Host: fmt.Sprintf("%d.test", i/4)}
		s.Confirm(of, Client{Operator: "Microsoft"}, netip.Prefix{}, policy.Answer{Status: http.StatusOK, Body: fmt.Appendf(nil, "User-agent: *\n# %d\n%s", i, long)}, time.Now())
		if s.bytes > maxServedBytes {
			t.Fatalf("after %d texts: %d bytes, want at most %d", i, s.bytes, maxServedBytes)
		}
	}
	if s.sites[policy.Named].Len() == 0 || s.bytes == 0 {
		t.Error("nothing is remembered")
	}
	for s.forget(s.sites[policy.Named]) {
	}
	if s.bytes != 0 {
		t.Errorf("without a site there are %d bytes", s.bytes)
	}
}
