package forward

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestProxiesRefuse checks the response to a blocked crawler. It is plain text that
// names the rule, whatever characters the rule contains. The proxy must find the next
// request of the connection after the body of the blocked one.
func TestProxiesRefuse(t *testing.T) {
	t.Parallel()
	for name := range proxies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := behind(t, name)
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				answer := harness.Get(t, "http://example.com:"+s.port+"/grün/", harness.Bingbot, func(r *http.Request) { r.Method = method })
				kind := strings.ToLower(answer.Header.Get("Content-Type"))
				if answer.Status != 403 || !strings.HasPrefix(kind, "text/plain") || name != "nginx" && kind != "text/plain; charset=utf-8" {
					t.Errorf("%s: %d %q", method, answer.Status, kind)
				}
				if answer.Header.Get("Cache-Control") != "no-store" || answer.Header.Get("Vary") != "User-Agent" {
					t.Errorf("%s: %v", method, answer.Header)
				}
				if want := method == http.MethodGet; want != strings.Contains(answer.Body, "Disallow: /grün/") {
					t.Errorf("%s: %q", method, answer.Body)
				}
			}
			for i, body := range []string{
				"Content-Length: " + strconv.Itoa(len(smuggled)) + "\r\n\r\n" + smuggled,
				"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
				// So large that some proxies close the connection instead.
				"Content-Length: 300000\r\n\r\n" + strings.Repeat(smuggled, 300000)[:300000],
			} {
				answers := s.both(t, "POST /private/x.txt HTTP/1.1\r\nHost: example.com\r\nUser-Agent: "+harness.Bingbot+"\r\n"+body+
					"GET /public/next HTTP/1.1\r\nHost: example.com\r\nUser-Agent: "+harness.Firefox+"\r\nConnection: close\r\n\r\n")
				if strings.Contains(answers, "smuggled") || strings.Contains(answers, "SECRET") || i < 2 && !strings.Contains(answers, "/public/next") {
					t.Errorf("%.20q: %q", body, answers)
				}
			}
		})
	}
}

// smuggled is a request in the body of another request.
const smuggled = "GET /public/smuggled HTTP/1.1\r\nHost: example.com\r\n\r\n"

// both sends requests over one connection and returns all responses.
func (s *site) both(t *testing.T, requests string) string {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	go func() { _, _ = io.WriteString(conn, requests) }() // a proxy may close the connection before it has read everything
	answers, _ := io.ReadAll(conn)
	return string(answers)
}
