package admin

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/notify"
)

// AlertsPath is the path of the alerts:
//
//	GET    /robots_guard/alerts
//	POST   /robots_guard/alerts/<id>/acknowledge
//	DELETE /robots_guard/alerts/<id>/acknowledge
//
// POST accepts an [AlertNote] or an empty body. DELETE reverts an acknowledgement. Both respond
// with the alert.
const AlertsPath = "/robots_guard/alerts"

// TestNotifyPath is the path of the endpoint that sends a test message to each receiver of alerts,
// without retries:
//
//	POST /robots_guard/alerts/test
//
// The response is a [NotifyTest].
const TestNotifyPath = AlertsPath + "/test"

// NotifyTest has the result of a test message for each receiver of alerts. It is empty if the
// configuration has no notify.
type NotifyTest struct {
	Receivers []notify.TestResult `json:"receivers"`
}

// AlertNote is the optional body of a request that acknowledges an alert.
type AlertNote struct {
	Note string `json:"note,omitempty"`
	User string `json:"by,omitempty"` // User is the name of the person who acknowledges the alert.
}

// listAlerts returns the alerts of the running configuration. Without a robots_guard the list is
// empty.
func listAlerts(running RunningConfig) alert.List {
	if manager := running.AlertManager(); manager != nil {
		return manager.List()
	}
	return alert.List{Generated: time.Now().UTC(), Alerts: []alert.Alert{}}
}

// serveAcknowledge acknowledges an alert (POST), or withdraws the acknowledgement (DELETE). It
// responds with the alert.
func (a *API) serveAcknowledge(w http.ResponseWriter, r *http.Request) (any, error) {
	id, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, AlertsPath+"/"), "/acknowledge")
	manager := a.findRunning().AlertManager()
	if !ok || manager == nil {
		return nil, httpError(http.StatusNotFound, "unknown path; use %s/<id>/acknowledge", AlertsPath)
	}
	var note AlertNote
	if err := readBody(w, r, &note); err != nil {
		return nil, err
	}
	change := func() (alert.Alert, error) { return manager.Acknowledge(id, note.User, note.Note) }
	if r.Method == http.MethodDelete {
		change = func() (alert.Alert, error) { return manager.Reopen(id) }
	}
	changed, err := change()
	if errors.Is(err, alert.ErrUnknown) {
		return nil, httpError(http.StatusNotFound, "%w; GET %s lists all", err, AlertsPath)
	}
	return changed, err
}
