package policy

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestOnFetchedInOrder delays onFetched during the next fetch. The calls come in the order of
// the fetches, and no fetch waits for them.
func TestOnFetchedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bounds := Bounds{Entries: 1, Bytes: 1 << 20, ConcurrentFetches: 1}
		e := NewCache(bounds, bounds, time.Now, nil).GetOrCreate(Key{Host: "a.test"}, ConfiguredHosts)
		const attempts = 3
		reported, begun := make(chan string, attempts), time.Now()
		for i := range attempts {
			text := fmt.Sprintf("User-agent: *\nDisallow: /%d\n", i)
			e.MakeDue()
			<-e.Refresh(FreshnessPolicy{Default: time.Hour, Max: time.Hour}, func() FetchResult {
				return FetchResult{Status: http.StatusOK, Body: []byte(text)}
			}, func(_, after State) {
				time.Sleep(time.Duration(attempts-i) * time.Second)
				reported <- after.Current.Robots.Text()
			})
			if got := e.State().Current.Robots.Text(); got != text {
				t.Errorf("%q is known, want %q", got, text)
			}
		}
		if waited := time.Since(begun); waited > 0 {
			t.Errorf("the fetches took %v", waited)
		}
		var order []string
		for range attempts {
			order = append(order, <-reported)
		}
		if !slices.IsSorted(order) {
			t.Errorf("onFetched was called in the order %q", order)
		}
		synctest.Wait()
		if e.lastCallbackDone != nil {
			t.Error("the entry still references the last call")
		}
	})
}
