package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"time"
)

//go:embed assets
var files embed.FS

// page is the file served for the directory.
const page = "index.html"

// staticFile is a static file of the dashboard, such as a script.
type staticFile struct {
	body        []byte
	contentType string
	etag        string
}

// contentTypes are the content types of the assets, independent of the system's table.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// loadStaticFiles returns the embedded static files by name. Requests never access the file system.
func loadStaticFiles() map[string]staticFile {
	entries, err := files.ReadDir("assets")
	if err != nil {
		panic(err) // Embedded files are always readable.
	}
	assets := make(map[string]staticFile, len(entries))
	for _, entry := range entries {
		body, err := files.ReadFile("assets/" + entry.Name())
		if err != nil {
			panic(err)
		}
		contentType := contentTypes[path.Ext(entry.Name())]
		if contentType == "" {
			panic("dashboard: no content type for " + entry.Name())
		}
		assets[entry.Name()] = staticFile{body, contentType, entityTag(body)}
	}
	return assets
}

func (a staticFile) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Type", a.contentType)
	w.Header().Set("ETag", a.etag)
	serveBody(w, r, a.body)
}

// serveBody answers a GET or HEAD with a body, or with 304 if the client has a body with this ETag.
func serveBody(w http.ResponseWriter, r *http.Request, body []byte) {
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// entityTag returns an ETag for a body (RFC 9110, section 8.8.3).
func entityTag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}
