package admin

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/jsontext"
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

// TestNotifyPath sends each receiver of notify a test message, without retries:
//
//	POST /robots_guard/alerts/test
//
// The response is a [NotifyTest].
const TestNotifyPath = AlertsPath + "/test"

// NotifyTest has the result of the test message to each receiver. The list is empty if the
// configuration has no notify.
type NotifyTest struct {
	Receivers []notify.TestResult `json:"receivers"`
}

// AlertNote is the optional body of an acknowledgement.
type AlertNote struct {
	Note string `json:"note,omitempty"`
	By   string `json:"by,omitempty"` // the person who acknowledges
}

// maxNote bounds an [AlertNote], in bytes.
const maxNote = 8 << 10

// alerts responds with all alerts.
func (a *API) alerts(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet {
		return httpError(http.StatusMethodNotAllowed, "use GET to read alerts")
	}
	return writeJSON(w, http.StatusOK, listAlerts(a.running()))
}

// listAlerts returns all alerts, or none without a guard.
func listAlerts(running Running) alert.List {
	if book := running.AlertManager(); book != nil {
		return book.List()
	}
	return alert.List{Generated: time.Now().UTC(), Alerts: []alert.Alert{}}
}

// testNotify sends a test message to all receivers.
func (a *API) testNotify(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost {
		return httpError(http.StatusMethodNotAllowed, "use POST to send a test message")
	}
	return writeJSON(w, http.StatusOK, NotifyTest{a.running().TestNotify(r.Context())})
}

// acknowledge acknowledges an alert, or reverts an acknowledgement.
func (a *API) acknowledge(w http.ResponseWriter, r *http.Request) error {
	id, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, AlertsPath+"/"), "/acknowledge")
	book := a.running().AlertManager()
	if !ok || book == nil {
		return httpError(http.StatusNotFound, "unknown path; use %s/<id>/acknowledge", AlertsPath)
	}
	var known alert.Alert
	var err error
	switch r.Method {
	case http.MethodPost:
		var sent AlertNote
		if err := readBody(http.MaxBytesReader(w, r.Body, maxNote), &sent); err != nil && !errors.Is(err, io.EOF) {
			return httpError(http.StatusBadRequest, `the body is not JSON such as {"note": "a partner"}: %w`, jsontext.WithoutGoTypes(err))
		}
		known, err = book.Acknowledge(id, sent.By, sent.Note)
	case http.MethodDelete:
		known, err = book.Reopen(id)
	default:
		return httpError(http.StatusMethodNotAllowed, "use POST to acknowledge an alert, or DELETE to undo the acknowledgement")
	}
	switch {
	case errors.Is(err, alert.ErrUnknown):
		return httpError(http.StatusNotFound, "%w; GET %s lists all", err, AlertsPath)
	case err != nil:
		return err
	}
	return writeJSON(w, http.StatusOK, known)
}
