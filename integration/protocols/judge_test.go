package protocols

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// manyFields returns header fields with the given value.
func manyFields(n int, value string) map[string]string {
	fields := make(map[string]string)
	for i := range n {
		fields[fmt.Sprint("X-Field-", i)] = value
	}
	return fields
}

// TestProtocolsJudge sends requests that the guard evaluates, in all versions of HTTP.
// Requests with more header fields than the server accepts are rejected as without the
// guard, and the next request gets a response.
func TestProtocolsJudge(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, nil)
	const taken = 1 << 20 // maximum size of a header in this configuration
	s := servePolyglot(t, "robots_guard enforce\n reverse_proxy $ORIGIN", "$ORIGIN", o.Address(),
		"h2c h3\n }", fmt.Sprintf("h2c h3\n max_header_size %d\n }", taken))
	s.warm()
	long := strings.Repeat("x", 10_000)
	const refused = "403 "
	for _, by := range protocols {
		t.Run(by.name, func(t *testing.T) {
			t.Parallel()
			client := by.client(t) // one connection for all requests, if the protocol allows it
			for _, tc := range []struct {
				name, method, path string
				userAgents         []string // each in a separate field, in any order
				header             map[string]string
				body               string
				want               string // prefix of status and body
			}{
				{"browser", "GET", "/private/x", []string{harness.Firefox}, nil, "", "200 origin /private/x"},
				{"allowed", "GET", "/page", []string{harness.Bingbot}, nil, "", "200 origin /page"},
				{"forbidden", "GET", "/private/x", []string{harness.Bingbot}, nil, "", refused},
				{"disallowed by its own group", "GET", "/page", []string{harness.GPTBot}, nil, "", refused},
				{"robots.txt", "GET", "/robots.txt", []string{harness.GPTBot}, nil, "", "200 " + harness.ClosedRobots},
				{"HEAD", "HEAD", "/private/x", []string{harness.Bingbot}, nil, "", "403 "},
				{"POST", "POST", "/private/x", []string{harness.Bingbot}, nil, "body", refused},
				{"a large body", "POST", "/private/x", []string{harness.Bingbot}, nil, large[:200_000], refused},
				{"a range", "GET", "/private/x", []string{harness.Bingbot}, map[string]string{"Range": "bytes=0-1"}, "", refused},
				{"a condition", "GET", "/private/x", []string{harness.Bingbot}, map[string]string{"If-None-Match": "*"}, "", refused},
				{"another spelling", "GET", "/x/../%70rivate//x", []string{harness.Bingbot}, nil, "", refused},
				{"a query", "GET", "/private?x", []string{harness.Bingbot}, nil, "", "200 "},
				{"the second of two names", "GET", "/page", []string{harness.Firefox, harness.GPTBot}, nil, "", refused},
				{"one of many", "GET", "/page", []string{harness.Firefox, "a/1", "b/1", "c/1", harness.GPTBot, "d/1"}, nil, "", refused},
				{"an additional empty field", "GET", "/page", []string{"", harness.GPTBot}, nil, "", refused},
				{"two browsers", "GET", "/private/x", []string{harness.Firefox, harness.Chrome}, nil, "", "200 "},
				{"10 KB after the name", "GET", "/page", []string{harness.GPTBot + " " + long}, nil, "", refused},
				{"10 KB", "GET", "/private/x", []string{long}, nil, "", "200 "},
				{"empty", "GET", "/private/x", []string{""}, nil, "", "200 "},
				{"thousands of fields of a browser", "GET", "/private/x", []string{harness.Firefox}, manyFields(5000, "v"), "", "200 origin /private/x"},
				{"thousands of fields of a crawler", "GET", "/page", []string{harness.Bingbot}, manyFields(5000, "v"), "", "200 origin /page"},
				{"thousands of fields in a disallowed request", "GET", "/private/x", []string{harness.Bingbot}, manyFields(5000, "v"), "", refused},
				{"half a megabyte of fields", "GET", "/page", []string{harness.GPTBot}, manyFields(500, long[:1000]), "", refused},
				{"half a megabyte after a name", "GET", "/page", []string{harness.GPTBot + strings.Repeat(" x", taken/4)}, nil, "", refused},
				{"half a megabyte before a name", "GET", "/page", []string{strings.Repeat("x ", taken/4) + harness.GPTBot}, nil, "", "200 origin /page"},
				{"more than the server accepts", "GET", "/private/x", []string{harness.Bingbot}, manyFields(3000, long[:1000]), "", ""},
				{"after all that", "GET", "/page", []string{harness.Bingbot}, nil, "", "200 origin /page"},
			} {
				r, err := http.NewRequest(tc.method, s.at(by, tc.path), nil)
				if err != nil {
					t.Fatal(err)
				}
				if tc.body != "" {
					r.Body, r.ContentLength = io.NopCloser(strings.NewReader(tc.body)), int64(len(tc.body))
				}
				fields(r, tc.userAgents)
				for name, value := range tc.header {
					r.Header.Set(name, value)
				}
				got := statusAndBody(client, r)
				if !strings.HasPrefix(got, tc.want) || tc.method == "HEAD" && got != tc.want {
					t.Errorf("%s: got %.200q, want %.200q", tc.name, got, tc.want)
				}
				// A client may refuse to send too much, or lose its connection because of it.
				if tc.want == "" && (strings.HasPrefix(got, "200") || strings.HasPrefix(got, "403")) {
					t.Errorf("%s: got %.200q", tc.name, got)
				}
			}
		})
	}
}

// fields sets several User-Agent fields. Go's client sends only the first field of each
// spelling, so the spellings differ.
func fields(r *http.Request, userAgents []string) {
	for i, userAgent := range userAgents {
		name := []byte("User-Agent")
		for bit := range i {
			name[len(name)-1-bit] -= 'a' - 'A'
		}
		r.Header[string(name)] = []string{userAgent}
	}
}

// statusAndBody sends a request and returns the status and body, or the error.
func statusAndBody(client *http.Client, r *http.Request) string {
	response, err := client.Do(r)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", response.StatusCode, body)
}

// TestProtocolsStreams sends a hundred concurrent requests over one connection, some of
// them disallowed. The origin responds once it has all requests. Each request must get
// its own response.
func TestProtocolsStreams(t *testing.T) {
	t.Parallel()
	const streams = 100
	for _, by := range protocols {
		if by.major < 2 {
			continue
		}
		t.Run(by.name, func(t *testing.T) {
			t.Parallel()
			var arrived sync.WaitGroup // at the origin; the guard blocks every second request
			arrived.Add(streams / 2)
			o := harness.NewOrigin(t, harness.ClosedRobots, func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasPrefix(r.URL.Path, "/page") {
					return false
				}
				arrived.Done()
				arrived.Wait()
				return false
			})
			s := servePolyglot(t, "robots_guard enforce\n reverse_proxy $ORIGIN", "$ORIGIN", o.Address())
			s.warm()
			client := by.client(t)
			ask := func(path, userAgent string) string {
				r, err := http.NewRequest(http.MethodGet, s.at(by, path), nil)
				if err != nil {
					return err.Error()
				}
				r.Header.Set("User-Agent", userAgent)
				return statusAndBody(client, r)
			}
			ask("/", harness.Firefox) // opens the connection
			var all sync.WaitGroup
			for i := range streams {
				all.Go(func() {
					path, userAgent, want := fmt.Sprintf("/page%d", i), harness.Bingbot, fmt.Sprintf("200 origin /page%d", i)
					if i%2 == 1 {
						path, want = fmt.Sprintf("/private/%d", i), "403 "
					}
					if i%4 == 2 {
						userAgent = harness.Firefox
					}
					if got := ask(path, userAgent); !strings.HasPrefix(got, want) {
						t.Errorf("%s as %q: got %.200q, want %.200q", path, userAgent, got, want)
					}
				})
			}
			all.Wait()
		})
	}
}
