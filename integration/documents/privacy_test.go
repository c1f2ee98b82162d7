package documents

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestErase follows the steps of docs/guides/privacy.md for erasing data, on a server
// that has stored data about a client, and searches for remaining data.
func TestErase(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/guides/privacy.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^rm -r /var/lib/caddy/\.local/share/(\S+)$`).FindSubmatch(text)
	if m == nil || !strings.Contains(string(text), "systemctl stop caddy\nrm -r ") {
		t.Fatal("the guide has no command for erasing while Caddy is stopped")
	}
	const path = "/private/of-a-client"
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /private/\n", nil)
	home, port, logs := t.TempDir(), harness.FreePort(t), filepath.Join(t.TempDir(), "log")
	caddyfile := strings.NewReplacer(
		"{\n\tlog default {\n", "{\n\tadmin off\n\tpersist_config off\n\tlog default {\n\t\toutput file "+logs+"\n",
		"example.com {", "http://a.test:"+port+" {",
		"app:8080", o.Address(),
	).Replace(shownFiles(string(text))["Caddyfile"])
	start := func() *harness.Server {
		s := harness.Run(t, harness.Caddyfile(t, caddyfile), []string{"XDG_DATA_HOME=" + home}, "127.0.0.1:"+port)
		s.Port = port
		return s
	}
	s := start()
	harness.Eventually(t, "a crawler is blocked", func() bool { return harness.Get(t, s.URL(path), harness.Bingbot).Status == 403 })
	s.Stop()
	if !holds(t, home, path) {
		t.Error("the server stored nothing about the request, so this test proves nothing")
	}

	if err := os.RemoveAll(filepath.Join(home, string(m[1]))); err != nil {
		t.Fatal(err)
	}
	if holds(t, home, path) || holds(t, home, "127.0.0.0/24") {
		t.Error("the storage still contains data about the request")
	}
	s = start()
	harness.Eventually(t, "it is judged again", func() bool { return harness.Get(t, s.URL("/private/other"), harness.Bingbot).Status == 403 })
	s.Stop()
	if holds(t, home, path) {
		t.Error("the erased data was stored again")
	}

	lines, err := os.ReadFile(logs)
	if err != nil || !strings.Contains(string(lines), `"client_ip":"127.0.0.0"`) || strings.Contains(string(lines), `"headers"`) {
		t.Errorf("the log differs from the guide: %v\n%s", err, lines)
	}
}

// TestMaskedLog searches the log of the guide's Caddyfile for data about clients. One
// client requests a disallowed URL. Another sends a request while the application is
// down, for which Caddy logs the whole request.
func TestMaskedLog(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/guides/privacy.md")
	if err != nil {
		t.Fatal(err)
	}
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /private/\n", nil)
	port, logs := harness.FreePort(t), filepath.Join(t.TempDir(), "log")
	caddyfile := strings.NewReplacer(
		"{\n\tlog default {\n", "{\n\tadmin off\n\tpersist_config off\n\tservers {\n\t\ttrusted_proxies static 127.0.0.0/8\n\t}\n\tlog default {\n\t\toutput file "+logs+"\n",
		"example.com {", "http://a.test:"+port+" {\n\thandle /down {\n\t\treverse_proxy 127.0.0.1:1\n\t}\n\thandle /long {\n\t\treverse_proxy "+endless(t)+"\n\t}",
		"app:8080", o.Address(),
	).Replace(shownFiles(string(text))["Caddyfile"])
	s := harness.Run(t, harness.Caddyfile(t, caddyfile), []string{"XDG_DATA_HOME=" + t.TempDir()}, "127.0.0.1:"+port)
	s.Port = port
	const client = "198.51.100.77"
	harness.Eventually(t, "a crawler is blocked", func() bool {
		return harness.Get(t, s.URL("/private/"), harness.Bingbot, harness.Header("X-Forwarded-For", client)).Status == 403
	})
	if a := harness.Get(t, s.URL("/down"), harness.Firefox, harness.Header("X-Forwarded-For", client)); a.Status != 502 {
		t.Errorf("a visitor got %d", a.Status)
	}
	from := abortedDownload(t, port)
	harness.Eventually(t, "the end of the download is logged", func() bool {
		lines, err := os.ReadFile(logs)
		return err == nil && bytes.Contains(lines, []byte("aborting with incomplete response"))
	})
	s.Stop()
	lines, err := os.ReadFile(logs)
	if err != nil || !bytes.Contains(lines, []byte(`"client_ip":"198.51.100.0"`)) || !bytes.Contains(lines, []byte(`"logger":"http.log.error"`)) {
		t.Errorf("the log lacks one of the lines: %v\n%s", err, lines)
	}
	for _, of := range []string{client, harness.Firefox, harness.Bingbot, `"remote_ip":"127.0.0.1"`, from} {
		if bytes.Contains(lines, []byte(of)) {
			t.Errorf("the log contains %s\n%s", of, lines)
		}
	}
}

// endless returns the address of an application with endless responses.
func endless(t *testing.T) string {
	application := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for chunk := make([]byte, 1<<16); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	t.Cleanup(application.Close)
	return application.Listener.Addr().String()
}

// abortedDownload closes a connection during a response, and returns its local address.
func abortedDownload(t *testing.T, port string) string {
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET /long HTTP/1.1\r\nHost: a.test:%s\r\nUser-Agent: %s\r\n\r\n", port, harness.Firefox); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1<<12)); err != nil {
		t.Fatal(err)
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	return conn.LocalAddr().String()
}

// TestStorageOff checks that the guide names all data that the server writes with
// storage off.
func TestStorageOff(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/guides/privacy.md")
	if err != nil {
		t.Fatal(err)
	}
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /private/\n", nil)
	home, port := t.TempDir(), harness.FreePort(t)
	caddyfile := "{\n\tadmin off\n\tpersist_config off\n\trobots_guard {\n\t\tstorage off\n\t}\n}\nhttp://a.test:" + port +
		" {\n\trobots_guard enforce\n\trobots_txt {\n\t\tdisallow GPTBot\n\t}\n\treverse_proxy " + o.Address() + "\n}\n"
	s := harness.Run(t, harness.Caddyfile(t, caddyfile), []string{"XDG_DATA_HOME=" + home}, "127.0.0.1:"+port)
	s.Port = port
	harness.Eventually(t, "a crawler is blocked", func() bool { return harness.Get(t, s.URL("/private/"), harness.Bingbot).Status == 403 })
	s.Stop()
	written := make(map[string]bool)
	for _, pattern := range []string{"caddy/robots_guard/v1/*/*", "caddy/robots_guard/v1/*"} {
		found, err := filepath.Glob(filepath.Join(home, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			if name := filepath.Base(path); len(name) < len("00000000-0000-0000") { // the name of neither an instance nor a site
				written[name] = true
			}
		}
	}
	if !written["policies"] || !written["managed"] {
		t.Errorf("the server wrote only %v, so this test proves nothing", written)
	}
	for name := range written {
		if !strings.Contains(string(text), "`"+name+"/`") {
			t.Errorf("the guide does not mention that %s/ is written", name)
		}
	}
}

// holds reports whether a file below a directory contains a text.
func holds(t *testing.T, dir, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if start := bytes.Index(content, []byte("\x1f\x8b\x08")); start >= 0 { // the ledger is compressed
			if z, err := gzip.NewReader(bytes.NewReader(content[start:])); err == nil {
				content, _ = io.ReadAll(z)
			}
		}
		found = found || bytes.Contains(content, []byte(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
