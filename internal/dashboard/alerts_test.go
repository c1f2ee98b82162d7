package dashboard

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

// exampleAlerts are those of package alert's example.
type exampleAlerts struct {
	t    *testing.T
	done string // what was done last
}

func (e *exampleAlerts) List() (list alert.List) {
	e.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "alert", "testdata", "alerts.json"))
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return list
}

func (e *exampleAlerts) Acknowledge(id, by, note string) (alert.Alert, error) {
	return e.do(id, by+" knows: "+note)
}

func (e *exampleAlerts) Reopen(id string) (alert.Alert, error) { return e.do(id, "undone") }

func (e *exampleAlerts) do(id, what string) (alert.Alert, error) {
	if id != e.List().Alerts[0].ID {
		return alert.Alert{}, alert.ErrUnknown
	}
	e.done = what
	return e.List().Alerts[0], nil
}

// TestAlerts lets those acknowledge alerts who have logged in, on the page itself.
func TestAlerts(t *testing.T) {
	const one = "/robots-guard/api/alerts/search_blocked-a379a6f6eeaf/acknowledge"
	isJSON := []string{"Content-Type", "application/json"}
	for name, tc := range map[string]struct {
		method, path, user, body string
		header                   []string
		status                   int
		holds, done              string
	}{
		"the list":               {"GET", "/robots-guard/api/alerts", "ann", "", nil, 200, `"read_only": false`, ""},
		"the list at the root":   {"GET", "/api/alerts", "ann", "", nil, 200, `"search_blocked-a379a6f6eeaf"`, ""},
		"the list for anybody":   {"GET", "/api/alerts", "", "", nil, 200, `"read_only": true`, ""},
		"the head of the list":   {"HEAD", "/api/alerts", "", "", nil, 200, "", ""},
		"something else":         {"GET", "/api/alertsx", "", "", nil, 308, "", ""},
		"POST to the list":       {"POST", "/api/alerts", "ann", "{}", isJSON, 405, "use GET", ""},
		"GET of one":             {"GET", one, "ann", "", nil, 405, "use POST or DELETE", ""},
		"a note":                 {"POST", one, "ann", `{"note":"a partner"}`, isJSON, 200, `"kind": "search_blocked"`, "ann knows: a partner"},
		"no note":                {"POST", one, "ann", ``, []string{"Content-Type", "application/json; charset=utf-8"}, 200, "", "ann knows: "},
		"undone":                 {"DELETE", one, "ann", ``, isJSON, 200, `"kind"`, "undone"},
		"an unknown one":         {"POST", "/api/alerts/x/acknowledge", "ann", "{}", isJSON, 404, "no such alert", ""},
		"more than one":          {"POST", "/api/alerts/x/y/acknowledge", "ann", "{}", isJSON, 405, "use GET", ""},
		"nobody":                 {"POST", one, "", "{}", isJSON, 403, "alerts can only be acknowledged with a login", ""},
		"nobody undoes":          {"DELETE", one, "", "", isJSON, 403, "alerts can only be acknowledged with a login", ""},
		"a form":                 {"POST", one, "ann", "note=x", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "application/json", ""},
		"text that looks like":   {"POST", one, "ann", "{}", []string{"Content-Type", "text/plain"}, 415, "application/json", ""},
		"DELETE without a type":  {"DELETE", one, "ann", "", nil, 415, "application/json", ""},
		"no JSON":                {"POST", one, "ann", "x", isJSON, 400, "not JSON", ""},
		"too much":               {"POST", one, "ann", `{"note":"` + strings.Repeat("x", maxBody) + `"}`, isJSON, 400, "too large", ""},
		"the page":               {"POST", one, "ann", "{}", append(isJSON, "Sec-Fetch-Site", "same-origin", "Origin", "https://a.test"), 200, "", "ann knows: "},
		"the page, old browser":  {"POST", one, "ann", "{}", append(isJSON, "Origin", "http://a.test"), 200, "", "ann knows: "},
		"another site":           {"POST", one, "ann", "{}", append(isJSON, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.test"), 403, "another site", ""},
		"another site, undoes":   {"DELETE", one, "ann", "", append(isJSON, "Sec-Fetch-Site", "same-site"), 403, "another site", ""},
		"another, old browser":   {"POST", one, "ann", "{}", append(isJSON, "Origin", "https://evil.test"), 403, "another site", ""},
		"a page without a place": {"POST", one, "ann", "{}", append(isJSON, "Origin", "null"), 403, "another site", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(tc.method, "http://a.test"+tc.path, strings.NewReader(tc.body))
			for i := 0; i < len(tc.header); i += 2 {
				r.Header.Set(tc.header[i], tc.header[i+1])
			}
			alerts, w := &exampleAlerts{t: t}, httptest.NewRecorder()
			New(nil, alerts, func(*http.Request) string { return tc.user }).ServeHTTP(w, r)
			if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.holds) || alerts.done != tc.done {
				t.Errorf("%d %s, done %q", w.Code, w.Body, alerts.done)
			}
			if w.Code != 308 && (w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Content-Type") != "application/json") {
				t.Errorf("header %v", w.Header())
			}
		})
	}
}

// TestNoAlerts is a page without any.
func TestNoAlerts(t *testing.T) {
	w := ask(&examples{t: t}, "GET", "/api/alerts")
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"alerts": []`) || !strings.Contains(w.Body.String(), `"read_only": true`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
