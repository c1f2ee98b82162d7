package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/jsontext"
)

// Alerts lists and acknowledges alerts. [alert.Manager] implements it.
type Alerts interface {
	List() alert.List
	// Acknowledge and Reopen return [alert.ErrUnknown] for an unknown alert.
	Acknowledge(id, by, note string) (alert.Alert, error)
	Reopen(id string) (alert.Alert, error)
}

// maxBody is the maximum size of an acknowledgement in bytes.
const maxBody = 8 << 10

// needsLogin is the error for an acknowledgement without a login.
const needsLogin = "alerts can only be acknowledged with a login: put basic_auth before robots_guard_dashboard, " +
	"or use caddy robots-guard status --acknowledge on the server"

// crossOrigin rejects requests of other sites' pages.
var crossOrigin = http.NewCrossOriginProtection()

// parseAlertsPath returns the ID in a path such as /api/alerts/<id>/acknowledge, or "" for the list
// at /api/alerts. ok is false for any other path.
func parseAlertsPath(path string) (id string, ok bool) {
	i := strings.LastIndex(path, "/api/alerts")
	if i < 0 {
		return "", false
	}
	rest := path[i+len("/api/alerts"):]
	if rest == "" {
		return "", true
	}
	id, acknowledges := strings.CutSuffix(strings.TrimPrefix(rest, "/"), "/acknowledge")
	return id, acknowledges && rest[0] == '/' && id != "" && !strings.Contains(id, "/")
}

// serveAlerts serves the list of alerts if id is "", else it acknowledges or reopens an alert.
func (h *handler) serveAlerts(w http.ResponseWriter, r *http.Request, id string) {
	methods := []string{http.MethodGet, http.MethodHead}
	if id != "" {
		methods = []string{http.MethodPost, http.MethodDelete}
	}
	if !slices.Contains(methods, r.Method) {
		w.Header().Set("Allow", strings.Join(methods, ", "))
		respondError(w, http.StatusMethodNotAllowed, "use "+strings.Join(methods, " or "))
		return
	}
	if id == "" {
		list := alert.List{Alerts: []alert.Alert{}}
		if h.alerts != nil {
			list = h.alerts.List()
		}
		list.ReadOnly = h.userName(r) == ""
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", typeJSON)
		serveBody(w, r, encodeJSON(list))
		return
	}
	h.acknowledge(w, r, id)
}

// userName returns the name of the user who sent a request, or "" without a login.
func (h *handler) userName(r *http.Request) string {
	if h.user == nil {
		return ""
	}
	return h.user(r)
}

// acknowledge acknowledges an alert, or reopens it. The request must have a user and come from the
// dashboard's own origin.
func (h *handler) acknowledge(w http.ResponseWriter, r *http.Request, id string) {
	user := h.userName(r)
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case user == "" || h.alerts == nil:
		respondError(w, http.StatusForbidden, needsLogin)
		return
	case crossOrigin.Check(r) != nil:
		respondError(w, http.StatusForbidden, "this request comes from a page of another site; acknowledge alerts on the dashboard")
		return
	case kind != typeJSON:
		respondError(w, http.StatusUnsupportedMediaType, "send Content-Type: application/json")
		return
	}
	if r.Method == http.MethodDelete {
		a, err := h.alerts.Reopen(id)
		serveAlert(w, a, err)
		return
	}
	var sent struct {
		Note string `json:"note"`
	}
	body := http.MaxBytesReader(w, r.Body, maxBody)
	if err := json.NewDecoder(body).Decode(&sent); err != nil && !errors.Is(err, io.EOF) {
		respondError(w, http.StatusBadRequest, fmt.Sprintf(`the body is not JSON, for example {"note": "a partner"}: %v`, jsontext.RemoveGoTypes(err)))
		return
	}
	a, err := h.alerts.Acknowledge(id, user, sent.Note)
	serveAlert(w, a, err)
}

// serveAlert serves an alert after a change, or the error of the change.
func serveAlert(w http.ResponseWriter, a alert.Alert, err error) {
	switch {
	case errors.Is(err, alert.ErrUnknown):
		respondError(w, http.StatusNotFound, err.Error())
	case err != nil:
		respondError(w, http.StatusInternalServerError, err.Error())
	default:
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", typeJSON)
		_, _ = w.Write(encodeJSON(a)) // This fails only if the client is gone.
	}
}
