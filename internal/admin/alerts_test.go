package admin

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/notify"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// troubled is a server with one alert.
type troubled struct {
	RunningConfig
	alertManager *alert.Manager
}

func (t troubled) AlertManager() *alert.Manager { return t.alertManager }
func (troubled) TestNotify(context.Context) []notify.TestResult {
	return []notify.TestResult{{Receiver: "slack", Error: "no such host"}}
}

// fullDisk is the state of a server with a full disk.
type fullDisk struct{}

func (fullDisk) SiteStates() map[string]report.SiteState                     { return nil }
func (fullDisk) Proposals() []report.RegistryProposal                        { return nil }
func (fullDisk) Registry() *report.RegistryStatus                            { return nil }
func (fullDisk) AddressLists() []verify.ListStatus                           { return nil }
func (fullDisk) ManagedChanges() map[string][]report.ManagedChange           { return nil }
func (fullDisk) ManagedSource() report.ManagedFiles                          { return nil }
func (fullDisk) WithheldResponses(time.Time) []responseaudit.WithheldFinding { return nil }
func (fullDisk) HasStorage() bool                                            { return true }
func (fullDisk) StorageFailure() (time.Time, error) {
	return time.Now().Add(-time.Hour), errors.New("no space left on device")
}
func (fullDisk) Reports(now time.Time) *report.Source { return &report.Source{Now: now} }

// TestAlerts lists and acknowledges alerts.
func TestAlerts(t *testing.T) {
	book := alert.NewManager(fullDisk{}, time.Now)
	id := book.List().Alerts[0].ID
	one := AlertsPath + "/" + id + "/acknowledge"
	for _, tc := range []struct {
		method, path, body string
		status             int
		holds              string
	}{
		{"GET", AlertsPath, "", 200, `"state": "open"`},
		{"POST", one, `{"note": "we know", "by": "ann"}`, 200, `"by": "ann"`},
		{"GET", AlertsPath, "", 200, `"note": "we know"`},
		{"DELETE", one, "", 200, `"state": "open"`},
		{"POST", one, "", 200, `"state": "acknowledged"`},
		{"POST", one, "x", 400, "not a JSON object"},
		{"PUT", one, "", 405, "use POST"},
		{"POST", AlertsPath, "", 405, "use GET"},
		{"POST", AlertsPath + "/x/acknowledge", "", 404, "no such alert"},
		{"POST", AlertsPath + "/" + id, "", 404, "unknown path"},
		{"GET", TestNotifyPath, "", 405, "use POST"},
		{"POST", TestNotifyPath, "", 200, `"receivers": [
    {
      "receiver": "slack",
      "sent": false,
      "error": "no such host"
    }
  ]`},
	} {
		status, body := sent(t, troubled{alertManager: book}, tc.method, tc.path, tc.body)
		if status != tc.status || !strings.Contains(body, tc.holds) {
			t.Errorf("%s %s: %d %s", tc.method, tc.path, status, body)
		}
	}
	if status, body := sent(t, troubled{}, "GET", AlertsPath, ""); status != 200 || !strings.Contains(body, `"alerts": []`) {
		t.Errorf("without a guard: %d %s", status, body)
	}
	if status, _ := sent(t, troubled{}, "POST", one, ""); status != 404 {
		t.Errorf("without a guard: %d", status)
	}
}

// sent sends a request to the API as Caddy does.
func sent(t *testing.T, running RunningConfig, method, path, body string) (status int, answer string) {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for _, route := range New(func() RunningConfig { return running }).Routes() {
		if route.Pattern == path || strings.HasSuffix(route.Pattern, "/") && strings.HasPrefix(path, route.Pattern) {
			err := route.Handler.ServeHTTP(w, r)
			var failed caddy.APIError
			if errors.As(err, &failed) {
				return failed.HTTPStatus, failed.Error()
			}
			if err != nil {
				t.Fatal(err)
			}
			return w.Code, w.Body.String()
		}
	}
	return http.StatusNotFound, ""
}
