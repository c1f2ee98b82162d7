package publish

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestUnknownCrawlerElsewhere serves a change from an instance that knows a crawler that this
// instance does not know.
func TestUnknownCrawlerElsewhere(t *testing.T) {
	newer, err := uaident.Default().WithCrawlers(uaident.Crawler{Token: "HouseBot", Class: uaident.SEO, Operator: "House"})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		storage := storetest.New()
		one, two := newInstance(t, storage, "one"), newInstance(t, storage, "two")
		two.load(disallow("GPTBot", "/a"))
		one.registry = newer
		one.load(disallow("GPTBot", "/a"), disallow("HouseBot", "/b"))
		time.Sleep(readInterval)
		synctest.Wait()
		two.serves("/a", "/b")
		two.end()
		two = newInstance(t, storage, "two")
		two.load(disallow("GPTBot", "/a"))
		two.serves("/a", "/b")
	})
}
