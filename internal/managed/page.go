package managed

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
	private  bool      // others are served another text
	some     *Page     // the same as it is served then
}

// newPage returns the page of a text that holds since modified.
func newPage(text string, modified time.Time) *Page {
	hash := sha256.Sum256([]byte(text))
	p := &Page{text: text, etag: `"` + hex.EncodeToString(hash[:16]) + `"`, modified: modified.Truncate(time.Second)}
	p.some = &Page{text: p.text, etag: p.etag, private: true}
	return p
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

// forSome returns the page as it is served while others are served another. It is nil
// for nil.
func (p *Page) forSome() *Page {
	if p == nil {
		return nil
	}
	return p.some
}

// Serve answers a GET or HEAD, conditional and range requests included. maxAge is
// how long clients may keep the text. One that others are not served no shared cache
// may keep, and it has no date: by that a client could take it for what it was served
// before, or will be. Nor is anything else answered 304 by its date, which tells no texts
// apart: a base that comes back was read before the one between, and what was read before
// the rules came has their date, here and at another instance.
func (p *Page) Serve(w http.ResponseWriter, r *http.Request, maxAge time.Duration) {
	header := w.Header()
	keep := "max-age=" + strconv.Itoa(int(maxAge/time.Second))
	if p.private {
		keep = "private, " + keep
	}
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Cache-Control", keep)
	header.Set("ETag", p.etag)
	if !p.modified.IsZero() {
		header.Set("Last-Modified", p.modified.UTC().Format(http.TimeFormat))
	}
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(p.text)) // without a date nothing goes by one
}
