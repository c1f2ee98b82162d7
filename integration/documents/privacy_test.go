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

// TestErase does what docs/guides/privacy.md says about erasing, in the home of
// a server that has stored something about a client, and looks for traces of it.
func TestErase(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/guides/privacy.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^rm -r /var/lib/caddy/\.local/share/(\S+)$`).FindSubmatch(text)
	if m == nil || !strings.Contains(string(text), "systemctl stop caddy\nrm -r ") {
		t.Fatal("the guide erases nothing while Caddy is stopped")
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
		t.Error("nothing about the request was stored, so this test shows nothing")
	}

	if err := os.RemoveAll(filepath.Join(home, string(m[1]))); err != nil {
		t.Fatal(err)
	}
	if holds(t, home, path) || holds(t, home, "127.0.0.0/24") {
		t.Error("the storage still holds something about the request")
	}
	s = start()
	harness.Eventually(t, "it is judged again", func() bool { return harness.Get(t, s.URL("/private/other"), harness.Bingbot).Status == 403 })
	s.Stop()
	if holds(t, home, path) {
		t.Error("what was erased is stored again")
	}

	lines, err := os.ReadFile(logs)
	if err != nil || !strings.Contains(string(lines), `"client_ip":"127.0.0.0"`) || strings.Contains(string(lines), `"headers"`) {
		t.Errorf("the log is not as the guide says: %v\n%s", err, lines)
	}
}

// TestMaskedLog looks in the log of the guide's Caddyfile for a client: one that is outside of the
// robots.txt, and a visitor while the application is down, of which Caddy writes a line with all of the request.
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
		t.Errorf("the log has not both lines: %v\n%s", err, lines)
	}
	for _, of := range []string{client, harness.Firefox, harness.Bingbot, `"remote_ip":"127.0.0.1"`, from} {
		if bytes.Contains(lines, []byte(of)) {
			t.Errorf("the log has %s\n%s", of, lines)
		}
	}
}

// endless returns the address of an application whose answers do not end.
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

// abortedDownload goes away in the midst of an answer, and returns from which address.
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

// TestStorageOff looks for what is written with storage off, which the guide has to name.
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
			if name := filepath.Base(path); len(name) < len("00000000-0000-0000") { // no instance, nor site
				written[name] = true
			}
		}
	}
	if !written["policies"] || !written["managed"] {
		t.Errorf("written is %v, so this test shows nothing", written)
	}
	for name := range written {
		if !strings.Contains(string(text), "`"+name+"/`") {
			t.Errorf("the guide does not say that %s/ is written", name)
		}
	}
}

// holds reports whether a file below a directory has a text in it.
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
