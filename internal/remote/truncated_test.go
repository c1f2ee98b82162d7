package remote_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/remote"
)

// TestReadErrorIsNotContent checks that a feed keeps neither content nor validators of content that
// it could not read to the end. With the validators, the next response would be 304, and the feed
// would never get the content.
func TestReadErrorIsNotContent(t *testing.T) {
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Last-Modified", "Fri, 27 Nov 2026 00:00:00 GMT")
		w.Header().Set("Content-Length", "1000")
		fmt.Fprintf(w, "%500d", 1)
	}))
	defer cut.Close()
	for name, location := range map[string]string{
		"URL":  cut.URL,
		"file": "/proc/self/mem", // A regular file whose first byte cannot be read.
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(location); err != nil && name == "file" {
				t.Skip(err)
			}
			source, err := remote.SourceSettings{OptionName: "rules", MaxBytes: 10_000}.NewSource(location, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			feed := remote.NewFeed(remote.FeedConfig[string]{Source: source, Now: time.Now, Parse: func(data []byte, _ *string) (*string, error) {
				t.Errorf("parses %d bytes", len(data))
				return new(string), nil
			}})
			feed.Load(t.Context(), 1, nil)
			last := feed.State().LastResult
			if feed.LastError() == nil || feed.IsLastResponseInvalid() || last.ETag != "" || last.LastModified != "" {
				t.Errorf("error %v, invalid content %t, validators %q and %q", feed.LastError(), feed.IsLastResponseInvalid(), last.ETag, last.LastModified)
			}
		})
	}
}
