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

// TestProxiesRefuse looks at the refusal as a crawler gets it: text, by the name of the
// rule, whatever letters stand in that, and the next request of the connection is read
// behind the body of the one that was refused.
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
				// So much that some rather close the connection.
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

// smuggled is a request in the body of another.
const smuggled = "GET /public/smuggled HTTP/1.1\r\nHost: example.com\r\n\r\n"

// both sends requests over one connection, and returns all that is answered.
func (s *site) both(t *testing.T, requests string) string {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	go func() { _, _ = io.WriteString(conn, requests) }() // a proxy may close before it has read all
	answers, _ := io.ReadAll(conn)
	return string(answers)
}
