package guard

import (
	"crypto/sha256"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// watcher looks at an answer while it passes, and keeps as much of it as counts.
type watcher struct {
	answer
	body []byte // as sent, at most policy.MaxSize+1 bytes
}

func watch(w http.ResponseWriter, method string) *watcher {
	return &watcher{answer: answer{passing: passTo(w), method: method}}
}

// Write implements [http.ResponseWriter].
func (w *watcher) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.answer.Write(p)
	if w.status == http.StatusOK && w.method == http.MethodGet {
		w.body = append(w.body, p[:min(max(n, 0), policy.MaxSize+1-len(w.body))]...)
	}
	return n, err
}

// ReadFrom implements [io.ReaderFrom], so that no byte passes unseen.
func (w *watcher) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{w}, r)
}

// seen returns what was seen. err is what the handler returned; error routes
// turn it into an answer later.
func (w *watcher) seen(err error) robotsAnswer {
	header := w.Header()
	a := robotsAnswer{
		status: w.status, etag: header.Get("ETag"), lastModified: header.Get("Last-Modified"),
		coded: header.Get("Content-Encoding") != "", lifetime: policy.LifetimeOf(header, time.Now()), location: header.Get("Location"),
	}
	switch {
	case w.status == 0 && err != nil:
		a = robotsAnswer{status: statusOfError(err), byError: true}
	case w.status == 0:
		a.status = http.StatusOK // nobody handled it: Caddy answers with an empty body
	}
	switch {
	case w.method != http.MethodGet:
	case a.status == http.StatusNotFound, a.status == http.StatusGone:
		a.hash = sha256.Sum256(nil) // as policy.Version has it where there is no file
	case a.status == http.StatusOK && err == nil && w.complete():
		if text, err := origin.Decode(header, w.body); err == nil {
			a.text, a.hash = text, sha256.Sum256(text)
		}
	}
	return a
}

// complete reports whether the client was sent all of the answer.
func (w *watcher) complete() bool {
	length, err := strconv.ParseInt(w.Header().Get("Content-Length"), 10, 64)
	return err != nil || w.size >= length
}

// Interface guard
var _ io.ReaderFrom = (*watcher)(nil)
