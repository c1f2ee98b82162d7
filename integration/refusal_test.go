package integration

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestRefusalHostile looks at what of a client and of a robots.txt gets into the
// answer to a block: a line of plain text, whatever bytes it is made of.
func TestRefusalHostile(t *testing.T) {
	t.Parallel()
	const rule = "/<script>alert(1)</script>\x1b[31m\x07\u009b\u202e\xff"
	o := newOrigin(t, "User-agent: *\nDisallow: /private"+"\nDisallow: "+rule+"\n", nil)
	s := serve(t, `http://:$PORT {
		robots_guard enforce {
			fetch_wait 20s
			fetch_timeout 20s
		}
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.address())
	for _, tc := range []struct{ name, target, host, userAgent string }{
		{"the rule", "/%3Cscript%3Ealert(1)%3C/script%3E%1b[31m%07%c2%9b%e2%80%ae%ff", "a.test", bingbot},
		{"the path", "/private/<script>%0d%0aSet-Cookie:%20a=b", "a.test", bingbot},
		{"the host", "/private/x", "<b>a.test", bingbot},
		{"the User-Agent", "/private/x", "a.test", "<img/src=x>bot/1.0\x1b[31m (+http://a.example/)"},
		{"a long host", "/private/x", strings.Repeat("a", 1000), bingbot},
	} {
		response := rawAnswer(t, s, "GET "+tc.target+" HTTP/1.1\r\nHost: "+tc.host+"\r\nUser-Agent: "+tc.userAgent+"\r\nConnection: close\r\n\r\n")
		if response.status == 400 {
			continue // net/http refuses such bytes
		}
		if response.status != 403 || response.header.Get("Content-Type") != "text/plain; charset=utf-8" ||
			response.header.Get("X-Content-Type-Options") != "nosniff" || response.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: got %d %v", tc.name, response.status, response.header)
		}
		if strings.ContainsFunc(response.body, func(c rune) bool { return c < ' ' && c != '\n' || c >= 0x7f }) {
			t.Errorf("%s: controls in %q", tc.name, response.body)
		}
		if len(response.body) > 2000 {
			t.Errorf("%s: %d bytes", tc.name, len(response.body))
		}
	}
}

// rawAnswer is raw with the header.
func rawAnswer(t *testing.T, s *server, request string) answer {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(body), response.Proto}
}
