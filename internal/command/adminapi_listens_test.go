package command

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWhatListens connects to servers that are not Caddy's admin API. The errors have advice.
func TestWhatListens(t *testing.T) {
	answering := func(text string) string {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		go func() {
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				_, _ = c.Read(make([]byte, 4096))
				_, _ = c.Write([]byte(text))
				_ = c.Close()
			}
		}()
		return listener.Addr().String()
	}
	const where = "; give the address of the admin API with --address or --config"
	for name, tc := range map[string]struct{ address, says, end string }{
		"no web server": {answering("SSH-2.0-OpenSSH_9.2\r\n"), "is not the admin API of Caddy (", where},
		"a web page":    {answering("HTTP/1.0 200 OK\r\n\r\n<html>"), "is not the admin API of Caddy: ", where},
		"nothing":       {answering(""), "the connection broke off (", "; start it, or" + where[1:]},
		"nobody":        {"127.0.0.1:1", "connection refused: nothing listens at that address (", "; start it, or" + where[1:]},
	} {
		for _, command := range [][]string{{"status"}, {"status", "--top"}, {"managed", "show"}, {"registry", "status"}} {
			output, err := execute(t.Context(), Config{}, append(command, "--address", tc.address)...)
			if err == nil || !strings.Contains(output, tc.address) || !strings.Contains(output, tc.says) || !strings.Contains(output, tc.end) {
				t.Errorf("%s, %v: %v, %s", name, command, err, output)
			}
		}
	}
}

// TestNoAnswer times out if a server accepts a request and does not respond, or stops within the
// response.
func TestNoAnswer(t *testing.T) {
	ended := make(chan struct{})
	never := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/half" {
			_, _ = io.WriteString(w, `{"sites":`)
			_ = http.NewResponseController(w).Flush()
		}
		<-ended
	}))
	defer never.Close()
	defer close(ended)
	server := adminAddress(strings.TrimPrefix(never.URL, "http://"))
	for _, path := range []string{"/", "/half"} {
		want := "the server at " + string(server) + " did not answer within 2m; "
		if body, err := server.send(50*time.Millisecond, http.MethodGet, path, nil); body != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", path, body, err)
		}
	}
}

// TestFilesOfOptions passes a directory or an invalid file as a configuration. The error names it.
func TestFilesOfOptions(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "sites.conf")
	if err := os.WriteFile(bad, []byte("x {\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{"registry", "diff", dir}, dir + " is a directory; give a file in the directory"},
		{[]string{"managed", "check", "--config", dir}, dir + " is a directory; --config takes the file in it, such as "},
		{[]string{"managed", "check", "--config", filepath.Join(dir, "no")}, "file " + filepath.Join(dir, "no") + " not found; --config takes"},
		{[]string{"status", "--config", bad}, "--config " + bad + ": config is not valid JSON: "},
	} {
		if output, err := execute(t.Context(), Config{}, tc.args...); err == nil || !strings.Contains(output, tc.says) {
			t.Errorf("%v: %v, %s", tc.args, err, output)
		}
	}
}

// TestNotReadable expects advice if the user may not read a file.
func TestNotReadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	file := filepath.Join(t.TempDir(), "robots.txt")
	if err := os.WriteFile(file, nil, 0o000); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "--robots", file, "/"}, {"audit", "--robots", file, file}, {"registry", "diff", file}} {
		if output, err := execute(t.Context(), Config{}, args...); err == nil || !strings.Contains(output, file) || !strings.Contains(output, "permission denied; run the command as a user with this permission") {
			t.Errorf("%v: %v, %s", args, err, output)
		}
	}
}
