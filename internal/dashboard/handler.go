package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// New returns the handler of the dashboard. It serves GET and HEAD under any path, and selects the
// file by the name after the last slash. It also serves POST and DELETE, which acknowledge and
// reopen an alert. views returns the data for each response. If alerts is nil, the list of alerts
// is empty. user returns the name of the logged-in user, or "". Only a logged-in user can
// acknowledge alerts, so a nil user disables acknowledgements.
func New(views func() Views, alerts Alerts, user func(*http.Request) string) http.Handler {
	return &handler{views: views, alerts: alerts, user: user, assets: loadStaticFiles()}
}

type handler struct {
	views  func() Views
	alerts Alerts
	user   func(*http.Request) string
	assets map[string]staticFile
}

// contentSecurityPolicy lets the page load its own files and nothing else, and
// makes browsers refuse to turn a string into markup.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", contentSecurityPolicy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("X-Robots-Tag", "noindex, nofollow")
	if id, ok := parseAlertsPath(r.URL.Path); ok {
		h.serveAlerts(w, r, id)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		respondError(w, http.StatusMethodNotAllowed, "use GET; only alerts can be changed")
		return
	}

	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	if name == "" {
		name = page
	}
	if file, ok := h.assets[name]; ok {
		file.serve(w, r)
		return
	}
	if view, ok := outputs[name]; ok {
		h.serveView(w, r, view)
		return
	}
	if !strings.Contains(name, ".") {
		// The page finds its files only under a path with a trailing slash. The Location is
		// relative, because a proxy may have removed a prefix.
		header.Set("Location", "./"+url.PathEscape(name)+"/")
		w.WriteHeader(http.StatusPermanentRedirect)
		return
	}
	respondError(w, http.StatusNotFound, "the dashboard has no such file")
}

// serveView serves a data file.
func (h *handler) serveView(w http.ResponseWriter, r *http.Request, view dataFile) {
	limit := defaultLimit
	if view.contentType == typeCSV {
		limit = maxLimit // By default, a CSV file has as many rows as possible.
	}
	q, err := parseQuery(r.URL.RawQuery, limit)
	if err != nil {
		respondError(w, http.StatusBadRequest, err.Error())
		return
	}
	body, err := view.render(h.views(), q)
	switch {
	case errors.Is(err, errUnknown):
		respondError(w, http.StatusNotFound, err.Error())
		return
	case err != nil:
		respondError(w, http.StatusInternalServerError, err.Error())
		return
	}
	header := w.Header()
	// Responses can require a login, so no cache may store them.
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Type", view.contentType)
	if view.filename != "" {
		header.Set("Content-Disposition", `attachment; filename="`+view.downloadName(q)+`"`)
	}
	serveBody(w, r, body)
}

// respondError responds with an error as JSON.
func respondError(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encodeJSON(struct { // This fails only if the client is gone.
		Error string `json:"error"`
	}{message}))
}
