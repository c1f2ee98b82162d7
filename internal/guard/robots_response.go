package guard

import (
	"crypto/sha256"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// maxPageStart is the maximum number of bytes of a response that are checked for HTML.
const maxPageStart = 4096

// robotsRecorder passes a response for robots.txt on and records it with its body.
type robotsRecorder struct {
	responseRecorder
	body      []byte // body is as sent: at most policy.MaxSize+1 bytes of a file, else at most maxPageStart.
	isAborted bool   // isAborted is true if the client closed the connection or the stream before the end.
}

func newRobotsRecorder(w http.ResponseWriter, method string) *robotsRecorder {
	return &robotsRecorder{responseRecorder: newResponseRecorder(w, method)}
}

// Write implements [http.ResponseWriter].
func (w *robotsRecorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	most := maxPageStart
	if w.mayBeRobotsFile() {
		most = policy.MaxSize + 1
	}
	n, err := w.responseRecorder.Write(p)
	w.body = append(w.body, p[:min(max(n, 0), most-len(w.body))]...)
	w.isAborted = w.isAborted || err != nil
	return n, err
}

// ReadFrom implements [io.ReaderFrom], so that Write gets all bytes.
func (w *robotsRecorder) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{w}, r)
}

// mayBeRobotsFile reports whether the status and the method allow that the response has a
// robots.txt as its body.
func (w *robotsRecorder) mayBeRobotsFile() bool {
	return w.method == http.MethodGet && (policy.FetchResult{Status: w.status}).AccessResult() == policy.Successful
}

// buildResponse returns the recorded response after the handlers have returned. err is the error of the
// handlers, to which error routes respond later.
func (w *robotsRecorder) buildResponse(err error) robotsResponse {
	header := w.Header()
	a := robotsResponse{
		status: w.status, etag: header.Get("ETag"), lastModified: header.Get("Last-Modified"),
		isEncoded: header.Get("Content-Encoding") != "", lifetime: policy.ParseLifetime(header, time.Now()), location: header.Get("Location"),
		isAborted: w.isAborted || w.status == statusClientClosedRequest,
	}
	switch {
	case w.status == 0 && err != nil:
		a = robotsResponse{status: errorStatus(err), isErrorStatus: true}
	case w.status == 0:
		a.status = http.StatusOK // No handler wrote a response, so Caddy sends an empty one.
	}
	switch {
	case w.method != http.MethodGet:
	case a.status == http.StatusNotFound, a.status == http.StatusGone:
		a.hash = sha256.Sum256(nil) // This is the hash of policy.Version for a missing file.
	case (policy.FetchResult{Status: a.status}).AccessResult() == policy.Successful && err == nil && w.isComplete():
		if text, err := site.DecodeBody(header, w.body); err == nil {
			a.text, a.hash = text, sha256.Sum256(text)
		}
	}
	return a
}

// statusClientClosedRequest is the status that reverse_proxy writes if the client leaves before the
// upstream responds.
const statusClientClosedRequest = 499

// isPage reports whether the response is an HTML page.
func (w *robotsRecorder) isPage() bool {
	return site.IsHTMLPage(w.status, w.Header(), w.body[:min(len(w.body), maxPageStart)])
}

// isComplete reports whether as many bytes as Content-Length were sent to the client. Without a
// Content-Length, it returns true.
func (w *robotsRecorder) isComplete() bool {
	length, err := strconv.ParseInt(w.Header().Get("Content-Length"), 10, 64)
	return err != nil || w.size >= length
}

// Interface guard
var _ io.ReaderFrom = (*robotsRecorder)(nil)

// robotsResponse is the response that a client got for /robots.txt.
type robotsResponse struct {
	status             int
	etag, lastModified string
	// isEncoded is true if the response has a Content-Encoding, which the validators include.
	isEncoded bool
	text      []byte            // text is the decoded body of at most policy.MaxSize+1 bytes.
	hash      [sha256.Size]byte // hash is the hash of the body. It is zero if it is unknown.
	lifetime  time.Duration     // lifetime is the freshness lifetime in the header of the response.
	location  string            // location is the Location field of a redirect.
	// isErrorStatus is true for the status of an error. Error routes may send another response.
	isErrorStatus bool
	isAborted     bool // isAborted is true if the client did not wait for the end of the response.
}

// deliversRules reports whether the client knows the rules of the site after this response to a
// request with a method.
func (a robotsResponse) deliversRules(method string) bool {
	return judge.IsRobotsFetch(method, a.status)
}

// differsFromCopy reports whether the response shows that the guard's copy, the current version of
// s, is outdated, or that the site has recovered while there is no copy. own is the key of the site.
func (a robotsResponse) differsFromCopy(s *policy.State, own *policy.Key) bool {
	if s == nil {
		return false
	}
	if s.Current == nil { // The guard's fetches have failed, so the site may have recovered.
		return (policy.FetchResult{Status: a.status}).AccessResult() == policy.Successful
	}
	good := s.Current
	existed := policy.FetchResult{Status: good.Status}.AccessResult() == policy.Successful
	if isRedirect(a.status) {
		return len(s.RedirectTargets) == 0 && (good.Status < 300 || good.Status >= 400) || len(s.RedirectTargets) > 0 && s.RedirectTargets[0] != resolveRedirectTarget(a.location, own)
	}
	switch (policy.FetchResult{Status: a.status}).AccessResult() {
	case policy.Unavailable:
		// Other statuses, for example 401, 412 and 416, may result from the client's own header.
		return existed && (a.status == http.StatusNotFound || a.status == http.StatusGone)
	case policy.Successful, policy.NotModified:
		switch {
		case !existed:
			return true
		case a.hash != [sha256.Size]byte{}:
			return a.hash != good.Hash && policy.Parse(a.text).RulesDigest() != good.Robots.RulesDigest()
		case a.isEncoded:
			return false // Validators depend on the content coding.
		case a.etag != "" && good.ETag != "":
			return strings.TrimPrefix(a.etag, "W/") != strings.TrimPrefix(good.ETag, "W/")
		case a.lastModified != "" && good.LastModified != "":
			return a.lastModified != good.LastModified
		}
	}
	return false
}
