package origin

import (
	"errors"
	"net/http"
	"strconv"
	"sync"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// errEnough makes a handler stop after enough of its response was recorded.
var errEnough = errors.New("the robots guard has read enough")

// recorder is the response writer of a virtual request. It records the header and as much of the
// body as the parser reads. Another goroutine may read it during a write of the handler, and the
// recorder then ignores further writes.
type recorder struct {
	// header belongs to the handler. Others may read it only after the handler has returned.
	header http.Header
	// full is closed when the body is longer than policy.MaxSize.
	full chan struct{}

	mu     sync.Mutex
	status int
	sent   http.Header // a copy of header from the time of WriteHeader
	body   []byte
	sealed bool
}

func newRecorder() *recorder {
	return &recorder{header: make(http.Header), full: make(chan struct{})}
}

// Header implements [http.ResponseWriter].
func (rec *recorder) Header() http.Header { return rec.header }

// WriteHeader implements [http.ResponseWriter]. It ignores informational responses except 101,
// which is final.
func (rec *recorder) WriteHeader(status int) {
	if status >= 100 && status < 200 && status != http.StatusSwitchingProtocols {
		return
	}
	if status < 100 || status > 999 {
		panic("invalid status " + strconv.Itoa(status)) // same as in net/http
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if rec.sealed || rec.status != 0 {
		return
	}
	rec.status = status
	rec.sent = rec.header.Clone()
}

// Write implements [http.ResponseWriter].
func (rec *recorder) Write(p []byte) (int, error) {
	rec.WriteHeader(http.StatusOK)
	rec.mu.Lock()
	defer rec.mu.Unlock()
	room := policy.MaxSize + 1 - len(rec.body)
	if rec.sealed || room == 0 {
		return 0, errEnough
	}
	n := min(len(p), room)
	rec.body = append(rec.body, p[:n]...)
	if n == room {
		close(rec.full)
	}
	if n < len(p) {
		return n, errEnough
	}
	return n, nil
}

// FlushError implements flushing for [http.ResponseController]. It only fixes the header, since no
// client waits for the body.
func (rec *recorder) FlushError() error {
	rec.WriteHeader(http.StatusOK)
	return nil
}

// EnableFullDuplex exists so that a server with that option logs no warning for virtual requests.
// They have no body.
func (rec *recorder) EnableFullDuplex() error { return nil }

// recorded is the recorded response.
type recorded struct {
	status int // 0 if the handler wrote no header
	header http.Header
	body   []byte
	cut    bool // the body is longer than the recorded part
	short  bool // the body is shorter than its Content-Length
}

// take ends the recording and returns the response.
func (rec *recorder) take() recorded {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.sealed = true
	got := recorded{status: rec.status, header: rec.sent, body: rec.body}
	if length, err := strconv.ParseInt(rec.sent.Get("Content-Length"), 10, 64); err == nil && length >= 0 {
		// net/http does not send more than Content-Length.
		if int64(len(got.body)) > length {
			got.body = got.body[:length]
		}
		got.short = int64(len(got.body)) < length
	}
	got.cut = len(got.body) > policy.MaxSize
	return got
}
