package protocols

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestProtocolsHeaders sends thousands of header fields, and more than the server
// accepts. The guard evaluates accepted requests as usual. Other requests are rejected
// as without the guard, and the next request gets a response.
func TestProtocolsHeaders(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, nil)
	const taken = 1 << 20 // maximum size of a header in this configuration
	s := servePolyglot(t, "robots_guard enforce\n reverse_proxy $ORIGIN", "$ORIGIN", o.Address(),
		"h2c h3\n }", fmt.Sprintf("h2c h3\n max_header_size %d\n }", taken))
	s.warm()
	for _, by := range protocols {
		t.Run(by.name, func(t *testing.T) {
			t.Parallel()
			client := by.client(t)
			ask := func(userAgent, path string, names int, value string) string {
				r, err := http.NewRequest(http.MethodGet, s.at(by, path), nil)
				if err != nil {
					t.Fatal(err)
				}
				for i := range names {
					r.Header.Set(fmt.Sprint("X-Field-", i), value)
				}
				r.Header["User-Agent"] = []string{userAgent}
				return statusAndBody(client, r)
			}
			for _, tc := range []struct {
				name, userAgent, path string
				names                 int
				value                 string
				want                  string // prefix of status and body
			}{
				{"thousands of fields of a browser", harness.Firefox, "/private/x", 5000, "v", "200 origin /private/x"},
				{"thousands of fields of a crawler", harness.Bingbot, "/page", 5000, "v", "200 origin /page"},
				{"thousands of fields in a disallowed request", harness.Bingbot, "/private/x", 5000, "v", "403 "},
				{"half a megabyte of fields", harness.GPTBot, "/page", 500, strings.Repeat("v", 1000), "403 "},
				{"half a megabyte after a name", harness.GPTBot + strings.Repeat(" x", 1<<18), "/page", 0, "", "403 "},
				{"half a megabyte before a name", strings.Repeat("x ", 1<<18) + harness.GPTBot, "/page", 0, "", "200 origin /page"},
			} {
				if got := ask(tc.userAgent, tc.path, tc.names, tc.value); !strings.HasPrefix(got, tc.want) {
					t.Errorf("%s: got %.200q, want %.200q", tc.name, got, tc.want)
				}
			}
			// A client may refuse to send it, or lose its connection because of it.
			if got := ask(harness.Bingbot, "/private/x", 3000, strings.Repeat("v", 1000)); strings.HasPrefix(got, "200") || strings.HasPrefix(got, "403") {
				t.Errorf("more than the server accepts: got %.200q", got)
			}
			if got := ask(harness.Bingbot, "/private/x", 0, ""); !strings.HasPrefix(got, "403 ") {
				t.Errorf("after that: got %.200q", got)
			}
		})
	}
}
