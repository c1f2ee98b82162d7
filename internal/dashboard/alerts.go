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
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/jsontext"
)

// Alerts is where the alerts come from, and where they are acknowledged; an
// [alert.Book] is one.
type Alerts interface {
	List() alert.List
	// Acknowledge and Reopen fail with [alert.ErrUnknown] for an alert that is not there.
	Acknowledge(id, by, note string) (alert.Alert, error)
	Reopen(id string) (alert.Alert, error)
}

// maxBody bounds what is sent with an acknowledgement, in bytes.
const maxBody = 8 << 10

// needsLogin says why somebody may look and not acknowledge.
const needsLogin = "nobody has logged in here, so alerts cannot be acknowledged: put basic_auth before robots_guard_dashboard, " +
	"or use caddy robots-guard status --acknowledge on the server"

// crossOrigin refuses what a page of another site has sent.
var crossOrigin = http.NewCrossOriginProtection()

// alertsPath returns what stands behind /api/ if that is about alerts: the ID of
// one that is acknowledged, "" for all of them.
func alertsPath(path string) (id string, ok bool) {
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

// serveAlerts answers with all alerts, or acknowledges one.
func (h *handler) serveAlerts(w http.ResponseWriter, r *http.Request, id string) {
	methods := []string{http.MethodGet, http.MethodHead}
	if id != "" {
		methods = []string{http.MethodPost, http.MethodDelete}
	}
	if !slices.Contains(methods, r.Method) {
		w.Header().Set("Allow", strings.Join(methods, ", "))
		refuse(w, http.StatusMethodNotAllowed, "use "+strings.Join(methods, " or "))
		return
	}
	if id == "" {
		list := alert.List{Alerts: []alert.Alert{}}
		if h.alerts != nil {
			list = h.alerts.List()
		}
		list.ReadOnly = h.userOf(r) == ""
		body := encode(list)
		list.Generated = time.Time{} // with which nothing else changes
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", typeJSON)
		serve(w, r, body, entityTag(encode(list)))
		return
	}
	h.acknowledge(w, r, id)
}

// userOf returns who has logged in, "" if nobody has.
func (h *handler) userOf(r *http.Request) string {
	if h.user == nil {
		return ""
	}
	return h.user(r)
}

// acknowledge acknowledges an alert, or takes that back. Only who has logged in may
// do so, and no page of another site on his behalf.
func (h *handler) acknowledge(w http.ResponseWriter, r *http.Request, id string) {
	user := h.userOf(r)
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case user == "" || h.alerts == nil:
		refuse(w, http.StatusForbidden, needsLogin)
		return
	case crossOrigin.Check(r) != nil:
		refuse(w, http.StatusForbidden, "a page of another site has sent this; acknowledge alerts on the dashboard itself")
		return
	case kind != typeJSON:
		refuse(w, http.StatusUnsupportedMediaType, "send Content-Type: application/json")
		return
	}
	if r.Method == http.MethodDelete {
		a, err := h.alerts.Reopen(id)
		answer(w, a, err)
		return
	}
	var sent struct {
		Note string `json:"note"`
	}
	body := http.MaxBytesReader(w, r.Body, maxBody)
	if err := json.NewDecoder(body).Decode(&sent); err != nil && !errors.Is(err, io.EOF) {
		refuse(w, http.StatusBadRequest, fmt.Sprintf(`the body is no JSON such as {"note": "a partner"}: %v`, jsontext.InWords(err)))
		return
	}
	a, err := h.alerts.Acknowledge(id, user, sent.Note)
	answer(w, a, err)
}

// answer answers with an alert as it is now.
func answer(w http.ResponseWriter, a alert.Alert, err error) {
	switch {
	case errors.Is(err, alert.ErrUnknown):
		refuse(w, http.StatusNotFound, err.Error())
	case err != nil:
		refuse(w, http.StatusInternalServerError, err.Error())
	default:
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", typeJSON)
		_, _ = w.Write(encode(a)) // fails if the client is gone
	}
}
