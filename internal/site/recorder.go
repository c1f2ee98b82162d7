package site

import (
	"errors"
	"net/http"
	"strconv"
	"sync"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// errBodyLimit makes a handler stop after enough of its response was recorded.
var errBodyLimit = errors.New("robots_guard has read enough of this response")

// virtualResponse is the response writer of one of the guard's own requests. It records the
// status, the header, and as much of the body as the parser reads. Another goroutine may end the
// recording while the handler writes. Later writes have no effect.
type virtualResponse struct {
	// header belongs to the handler. Other code may read it only after the handler has returned.
	header http.Header
	// bodyFull is closed when the body is longer than policy.MaxSize.
	bodyFull chan struct{}

	mu         sync.Mutex
	status     int
	sentHeader http.Header // sentHeader is a copy of header from the time of WriteHeader.
	body       []byte
	isFinished bool
}

func newVirtualResponse() *virtualResponse {
	return &virtualResponse{header: make(http.Header), bodyFull: make(chan struct{})}
}

// Header implements [http.ResponseWriter].
func (rec *virtualResponse) Header() http.Header { return rec.header }

// WriteHeader implements [http.ResponseWriter]. WriteHeader ignores informational responses except
// 101, which is final.
func (rec *virtualResponse) WriteHeader(status int) {
	if status >= 100 && status < 200 && status != http.StatusSwitchingProtocols {
		return
	}
	if status < 100 || status > 999 {
		panic("invalid status " + strconv.Itoa(status)) // net/http does the same.
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if rec.isFinished || rec.status != 0 {
		return
	}
	rec.status = status
	rec.sentHeader = rec.header.Clone()
}

// Write implements [http.ResponseWriter].
func (rec *virtualResponse) Write(p []byte) (int, error) {
	rec.WriteHeader(http.StatusOK)
	rec.mu.Lock()
	defer rec.mu.Unlock()
	remaining := policy.MaxSize + 1 - len(rec.body)
	if rec.isFinished || remaining == 0 {
		return 0, errBodyLimit
	}
	n := min(len(p), remaining)
	rec.body = append(rec.body, p[:n]...)
	if n == remaining {
		close(rec.bodyFull)
	}
	if n < len(p) {
		return n, errBodyLimit
	}
	return n, nil
}

// FlushError implements flushing for [http.ResponseController]. Later changes of the header have no
// effect. The body needs no flush, since no client waits for it.
func (rec *virtualResponse) FlushError() error {
	rec.WriteHeader(http.StatusOK)
	return nil
}

// EnableFullDuplex does nothing. Without it, a server with full duplex enabled logs a warning for
// each of the guard's own requests, which have no body.
func (rec *virtualResponse) EnableFullDuplex() error { return nil }

// recordedResponse is the response of a handler as far as [virtualResponse] recorded it.
type recordedResponse struct {
	status       int // status is 0 if the handler wrote no header.
	header       http.Header
	body         []byte
	isTruncated  bool // isTruncated is true if the body is longer than the recorded part.
	isIncomplete bool // isIncomplete is true if the body is shorter than its Content-Length.
}

// finish ends the recording and returns the recorded response.
func (rec *virtualResponse) finish() recordedResponse {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.isFinished = true
	response := recordedResponse{status: rec.status, header: rec.sentHeader, body: rec.body}
	if length, err := strconv.ParseInt(rec.sentHeader.Get("Content-Length"), 10, 64); err == nil && length >= 0 {
		// net/http does not send more than Content-Length.
		if int64(len(response.body)) > length {
			response.body = response.body[:length]
		}
		response.isIncomplete = int64(len(response.body)) < length
	}
	response.isTruncated = len(response.body) > policy.MaxSize
	return response
}
