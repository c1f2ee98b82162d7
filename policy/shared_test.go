package policy

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// TestSharedWhileHostsCome looks at what the hosts of a site share while more of them are
// read that have the same text: that is there all the time.
func TestSharedWhileHostsCome(t *testing.T) {
	c, _ := newTestCache(roomy)
	site := Key{Site: "*.example.com"}
	read := func(i int) {
		key := site
		key.Host = fmt.Sprint(i, ".example.com")
		<-c.Add(key, Invented).Refresh(holding(time.Hour), answering("User-agent: *\nDisallow: /\n"), nil)
	}
	for i := range minSharing {
		read(i)
	}
	ended := make(chan struct{})
	var looking sync.WaitGroup
	defer looking.Wait()
	defer close(ended)
	looking.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
			}
			if c.Shared(site) == nil {
				t.Error("the hosts share nothing for a moment")
				return
			}
		}
	})
	for i := range 3000 {
		read(minSharing + i)
	}
}
