package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Page is a served robots.txt. It is immutable.
type Page struct {
	text     string
	etag     string
	modified time.Time // truncated to seconds, as in HTTP
}

// newPage returns a page with a modification time.
func newPage(text string, modified time.Time) *Page {
	hash := sha256.Sum256([]byte(text))
	return &Page{text: text, etag: `"` + hex.EncodeToString(hash[:16]) + `"`, modified: modified.Truncate(time.Second)}
}

// version returns the version from the comment of a composed file. Without a comment it returns the
// beginning of the ETag.
func (p *Page) version() string {
	const length = 12
	if _, after, ok := strings.Cut(p.text, "\n# Added by robots_txt, version "); ok && len(after) >= length {
		return after[:length]
	}
	return p.etag[1 : 1+length]
}

// Serve answers a GET or HEAD request, including conditional and range requests. maxAge is for
// Cache-Control. Serve compares only the ETag, because two different files can have the same date.
func (p *Page) Serve(w http.ResponseWriter, r *http.Request, maxAge time.Duration) {
	header := w.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Cache-Control", "max-age="+strconv.Itoa(int(maxAge/time.Second)))
	header.Set("ETag", p.etag)
	header.Set("Last-Modified", p.modified.UTC().Format(http.TimeFormat))
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(p.text)) // the zero time disables conditions by date
}
