package origin

import (
	"errors"
	"net/http"
	"strconv"
	"sync"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// errEnough tells a handler that no more of its answer is wanted.
var errEnough = errors.New("the robots guard has read enough")

// recorder is the response writer of a virtual request. It keeps the header and
// as much of the body as is parsed. It may be read while the handler still
// writes, and is deaf to the handler from then on.
type recorder struct {
	// header is the handler's, and only read when the handler has returned.
	header http.Header
	// full is closed when the body is longer than policy.MaxSize.
	full chan struct{}

	mu     sync.Mutex
	status int
	sent   http.Header // header as it was when the status was written
	body   []byte
	sealed bool
}

func newRecorder() *recorder {
	return &recorder{header: make(http.Header), full: make(chan struct{})}
}

// Header implements [http.ResponseWriter].
func (rec *recorder) Header() http.Header { return rec.header }

// WriteHeader implements [http.ResponseWriter]. Informational responses come
// before the answer; 101 takes its place.
func (rec *recorder) WriteHeader(status int) {
	if status >= 100 && status < 200 && status != http.StatusSwitchingProtocols {
		return
	}
	if status < 100 || status > 999 {
		panic("invalid status " + strconv.Itoa(status)) // as net/http does
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

// FlushError is what [http.ResponseController] calls to flush. There is nobody
// to send to, but the header is fixed by it.
func (rec *recorder) FlushError() error {
	rec.WriteHeader(http.StatusOK)
	return nil
}

// EnableFullDuplex keeps a server with that option from warning about every
// virtual request. There is no request body to read.
func (rec *recorder) EnableFullDuplex() error { return nil }

// recorded is what a recorder got.
type recorded struct {
	status int // 0 if no header was written
	header http.Header
	body   []byte
	cut    bool // the body goes on
	short  bool // the body ends before its announced end
}

// take ends the recording.
func (rec *recorder) take() recorded {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.sealed = true
	got := recorded{status: rec.status, header: rec.sent, body: rec.body}
	if length, err := strconv.ParseInt(rec.sent.Get("Content-Length"), 10, 64); err == nil && length >= 0 {
		// net/http sends no more than was announced.
		if int64(len(got.body)) > length {
			got.body = got.body[:length]
		}
		got.short = int64(len(got.body)) < length
	}
	got.cut = len(got.body) > policy.MaxSize
	return got
}
