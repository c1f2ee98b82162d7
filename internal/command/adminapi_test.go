package command

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestEndlessAnswer ends reading what listens at the address of the admin API and answers
// without an end.
func TestEndlessAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for blank := bytes.Repeat([]byte(" "), 1<<20); ; {
			if _, err := w.Write(blank); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	var n int64
	err := adminServer(strings.TrimPrefix(server.URL, "http://")).ask(http.MethodGet, "/robots_guard/shadow", nil, func(answer io.Reader) (err error) {
		n, err = io.Copy(io.Discard, io.LimitReader(answer, 2*maxAdminAnswer))
		return err
	})
	if n != maxAdminAnswer || err == nil || !strings.Contains(err.Error(), "it has more than 256 MiB") {
		t.Errorf("after %d bytes: %v", n, err)
	}
}
