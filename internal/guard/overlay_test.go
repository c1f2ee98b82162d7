package guard

import (
	"runtime"
	"testing"
	"weak"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestOverlaysKeepNoRegistry replaces a registry while a policy stays that was used
// before and not since, as a replaced version does.
func TestOverlaysKeepNoRegistry(t *testing.T) {
	var kept overlayCache
	robots := policy.Parse([]byte("User-agent: NobodyKnows\nDisallow: /\n"))
	before := func() weak.Pointer[uaident.Registry] {
		registry, err := uaident.Default().WithCrawlers(uaident.Crawler{Token: "Quuxle", Class: uaident.SEO})
		if err != nil {
			t.Fatal(err)
		}
		first := kept.overlayFor(registry, robots)
		if kept.overlayFor(registry, robots) != first {
			t.Error("the overlay is made again for the same registry")
		}
		return weak.Make(registry)
	}()
	for range 5 { // a recent allocation may survive one garbage collection
		runtime.GC()
	}
	if before.Value() != nil {
		t.Error("the registry is kept")
	}
	if got := kept.overlayFor(uaident.Default(), robots); got == nil {
		t.Errorf("for another registry: %+v", got)
	}
	runtime.KeepAlive(&kept)
}
