package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Page is a robots.txt as it is served. It is immutable.
type Page struct {
	text     string
	etag     string
	modified time.Time // to the second, as HTTP has it
}

// newPage returns a page with a modification time.
func newPage(text string, modified time.Time) *Page {
	hash := sha256.Sum256([]byte(text))
	return &Page{text: text, etag: `"` + hex.EncodeToString(hash[:16]) + `"`, modified: modified.Truncate(time.Second)}
}

// version returns the version in the comment of a composed file, or else the beginning of the tag.
func (p *Page) version() string {
	const length = 12
	if _, after, ok := strings.Cut(p.text, "\n# Added by robots_txt, version "); ok && len(after) >= length {
		return after[:length]
	}
	return p.etag[1 : 1+length]
}

// Serve answers a GET or HEAD request, also a conditional or range request. maxAge is for Cache-Control.
// A conditional request is answered by the tag alone, because two files can have the same date, such as
// a base that returns after another one.
func (p *Page) Serve(w http.ResponseWriter, r *http.Request, maxAge time.Duration) {
	header := w.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Cache-Control", "max-age="+strconv.Itoa(int(maxAge/time.Second)))
	header.Set("ETag", p.etag)
	header.Set("Last-Modified", p.modified.UTC().Format(http.TimeFormat))
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(p.text)) // the zero time disables conditions by date
}
