package site

import (
	"bytes"
	"net/http"
	"sync"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestRecorder(t *testing.T) {
	rec := newVirtualResponse()
	rec.Header().Set("Etag", "1")
	rec.WriteHeader(http.StatusEarlyHints)
	rec.WriteHeader(http.StatusTeapot)
	rec.Header().Set("Etag", "2")
	rec.WriteHeader(http.StatusOK)
	if n, err := rec.Write([]byte("x")); n != 1 || err != nil {
		t.Errorf("Write = %d, %v", n, err)
	}
	if err := http.NewResponseController(rec).Flush(); err != nil {
		t.Error(err)
	}
	if err := http.NewResponseController(rec).EnableFullDuplex(); err != nil {
		t.Error(err)
	}
	got := rec.finish()
	if got.status != http.StatusTeapot || got.header.Get("Etag") != "1" || string(got.body) != "x" || got.isTruncated || got.isIncomplete {
		t.Errorf("got %+v", got)
	}
	if n, err := rec.Write([]byte("y")); n != 0 || err != errBodyLimit {
		t.Errorf("Write = %d, %v after take", n, err)
	}
	if again := rec.finish(); string(again.body) != "x" {
		t.Errorf("got %q after take", again.body)
	}
}

func TestRecorderFull(t *testing.T) {
	rec := newVirtualResponse()
	full := func() bool {
		select {
		case <-rec.bodyFull:
			return true
		default:
			return false
		}
	}
	for _, step := range []struct {
		size, n int
		full    bool
		err     error
	}{
		{policy.MaxSize - 1, policy.MaxSize - 1, false, nil},
		{1, 1, false, nil}, // the longest body without overflow
		{0, 0, false, nil},
		{3, 1, true, errBodyLimit},
		{1, 0, true, errBodyLimit},
		{0, 0, true, errBodyLimit},
	} {
		if n, err := rec.Write(make([]byte, step.size)); n != step.n || err != step.err || full() != step.full {
			t.Errorf("writing %d: got %d, %v, full %t", step.size, n, err, full())
		}
	}
	if got := rec.finish(); !got.isTruncated || len(got.body) != policy.MaxSize+1 || got.status != http.StatusOK {
		t.Errorf("got status %d, %d bytes, cut %t", got.status, len(got.body), got.isTruncated)
	}
}

// TestRecorderAbandoned checks that writes of an abandoned handler do not change the recorded
// response.
func TestRecorderAbandoned(t *testing.T) {
	rec := newVirtualResponse()
	_, _ = rec.Write([]byte("kept"))
	var handlers sync.WaitGroup
	handlers.Go(func() {
		for range 1000 {
			rec.Header().Set("X", "y")
			rec.WriteHeader(http.StatusNotFound)
			_, _ = rec.Write([]byte("lost"))
			_ = rec.FlushError()
		}
	})
	got := rec.finish()
	body := bytes.Clone(got.body)
	handlers.Wait()
	if !bytes.Equal(got.body, body) || !bytes.HasPrefix(body, []byte("kept")) || got.header.Get("X") != "" {
		t.Error("it changed")
	}
}
