package command

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEndlessAnswer stops reading an infinite response.
func TestEndlessAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for blank := bytes.Repeat([]byte(" "), 1<<20); ; {
			if _, err := w.Write(blank); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	body, err := adminAddress(strings.TrimPrefix(server.URL, "http://")).sendAndDecode(http.MethodGet, "/robots_guard/status", nil, new(any))
	if body != nil || err == nil || !strings.Contains(err.Error(), "the response is larger than 64 MiB") {
		t.Errorf("%d bytes, %v", len(body), err)
	}
}

// TestAddressOfConfig uses the address in a configuration. Without an admin API in the
// configuration it sends no request.
func TestAddressOfConfig(t *testing.T) {
	for config, want := range map[string]string{
		`{"admin":{"listen":"localhost:2020"}}`: "localhost:2020",
		`{"admin":{}}`:                          "localhost:2019",
		`{}`:                                    "localhost:2019",
		`{"admin":{"disabled":true}}`:           "",
	} {
		path := filepath.Join(t.TempDir(), "caddy.json")
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		address, err := (&adminAPI{config: path}).serverAddress()
		if string(address) != want || want == "" && (err == nil || !strings.Contains(err.Error(), "the admin API is off in "+path)) {
			t.Errorf("%s: %q, %v", config, address, err)
		}
		if address, err := (&adminAPI{config: path, address: "localhost:2021"}).serverAddress(); address != "localhost:2021" || err != nil {
			t.Errorf("%s with an address: %q, %v", config, address, err)
		}
	}
}
