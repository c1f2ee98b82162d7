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

// newPage returns the page of a text that holds since modified.
func newPage(text string, modified time.Time) *Page {
	hash := sha256.Sum256([]byte(text))
	return &Page{text: text, etag: `"` + hex.EncodeToString(hash[:16]) + `"`, modified: modified.Truncate(time.Second)}
}

// version returns what the text's own comment calls it, the beginning of the tag for a
// text without one.
func (p *Page) version() string {
	const length = 12
	if _, after, ok := strings.Cut(p.text, "\n# Added by robots_txt, version "); ok && len(after) >= length {
		return after[:length]
	}
	return p.etag[1 : 1+length]
}

// Serve answers a GET or HEAD, conditional and range requests included. maxAge is how
// long clients may keep the text. A conditional request is answered by the tag alone: two
// texts can have the same date, such as a base that comes back after another one.
func (p *Page) Serve(w http.ResponseWriter, r *http.Request, maxAge time.Duration) {
	header := w.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Cache-Control", "max-age="+strconv.Itoa(int(maxAge/time.Second)))
	header.Set("ETag", p.etag)
	header.Set("Last-Modified", p.modified.UTC().Format(http.TimeFormat))
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(p.text)) // without a date nothing goes by one
}
