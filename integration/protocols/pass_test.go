package protocols

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// large is a body that exceeds all buffers.
var large = strings.Repeat("0123456789abcdef", 1<<16)

// turns synchronize the two ends of a test by the query of the request.
type turns struct{ byQuery sync.Map }

func (all *turns) of(query string) chan struct{} {
	turn, _ := all.byQuery.LoadOrStore(query, make(chan struct{}, 1))
	return turn.(chan struct{})
}

// rich sends responses with more than a header and a body.
func (all *turns) rich(w http.ResponseWriter, r *http.Request) bool {
	switch r.URL.Path {
	case "/hints":
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusEarlyHints)
		fmt.Fprint(w, "page")
	case "/sum": // returns the trailer of the request in the trailer of the response
		body, err := io.ReadAll(r.Body)
		w.Header().Set("Trailer", "X-Sum, X-Back")
		fmt.Fprintf(w, "%s %d %x %v", r.Method, len(body), sha256.Sum256(body), err)
		w.Header().Set("X-Sum", "42")
		w.Header().Set("X-Back", r.Trailer.Get("X-In"))
	case "/large":
		_, _ = io.WriteString(w, large)
	case "/up": // tells the client that the first part has arrived
		piece := make([]byte, 5)
		_, err := io.ReadFull(r.Body, piece)
		all.of(r.URL.RawQuery) <- struct{}{}
		rest, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s+%s %v", piece, rest, err)
	case "/events": // waits until the client has the first event
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-all.of(r.URL.RawQuery):
			fmt.Fprint(w, "data: 2\n\n")
		case <-r.Context().Done():
		}
	default:
		return false
	}
	return true
}

// exchange is a request with the expected response.
type exchange struct {
	name, method, path string
	header             map[string]string
	body               func(turn <-chan struct{}) io.Reader
	trailer            string // X-In
	read               func(body io.Reader, turn chan<- struct{}) string
	since              int // required major version; 1 for HTTP/1.1, 0 for HTTP/1.0
	want               string
}

// exchanges use features of HTTP beyond a simple request.
var exchanges = []exchange{
	{name: "plain", path: "/page", want: "200 origin /page"},
	{name: "robots.txt", path: "/robots.txt", want: "200 " + harness.ClosedRobots},
	{name: "HEAD", method: "HEAD", path: "/files/x.txt", want: "200 "},
	{name: "none", path: "/files/none", want: "404 "},
	{name: "several ranges", path: "/files/x.txt", header: map[string]string{"Range": "bytes=0-1,4-5"}, read: lengthOf, want: "206 "},
	{name: "range", path: "/files/x.txt", header: map[string]string{"Range": "bytes=2-4"}, want: "206 234"},
	{name: "range behind the end", path: "/files/x.txt", header: map[string]string{"Range": "bytes=99-"}, want: "416 invalid range"},
	{name: "malformed range", path: "/files/x.txt", header: map[string]string{"Range": "bytes=bad"}, want: "416 invalid range"},
	{name: "condition", path: "/files/x.txt", header: map[string]string{"If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"}, want: "304 "},
	{name: "condition of the robots.txt", path: "/files/robots.txt", header: map[string]string{"If-None-Match": "*"}, want: "304 "},
	{name: "compression", path: "/packed/x.txt", header: map[string]string{"Accept-Encoding": "gzip"}, want: "200 \x1f\x8b"},
	{name: "large answer", path: "/large", read: sumOf, want: "200 " + sumOf(strings.NewReader(large), nil)},
	{name: "large request", method: "POST", path: "/sum", body: whole(large), want: "200 POST " + sumOf(strings.NewReader(large), nil) + " <nil>"},
	{name: "empty request", method: "POST", path: "/sum", body: whole(""), want: "200 POST " + sumOf(strings.NewReader(""), nil) + " <nil>"},
	{name: "method", method: "PROPFIND", path: "/sum", want: "200 PROPFIND 0"},
	{name: "early hints", path: "/hints", since: 1, want: "103 103 200 page"},
	{name: "trailers", method: "PUT", path: "/sum", body: inTwo, trailer: "in", since: 1, want: "200 PUT 10"},
	{name: "streamed request", method: "POST", path: "/up", body: inTwo, since: 1, want: "200 first+after <nil>"},
	{name: "events", path: "/events", read: events, want: "200 data: 1 data: 2"},
	{name: "100-continue", method: "POST", path: "/sum", body: whole("body"), header: map[string]string{"Expect": "100-continue"}, since: 1, want: "200 POST 4"},
	{name: "hints for servers", path: "/page", header: map[string]string{"Early-Data": "1", "Priority": "u=1, i"}, want: "200 origin"},
}

// whole returns a body with a known length.
func whole(text string) func(<-chan struct{}) io.Reader {
	return func(<-chan struct{}) io.Reader { return strings.NewReader(text) }
}

// inTwo returns a body with two parts. It sends the second part when turn says so, or
// at once if turn is nil.
func inTwo(turn <-chan struct{}) io.Reader {
	in, out := io.Pipe()
	go func() { // returns at the end of the request
		if _, err := io.WriteString(out, "first"); err == nil {
			if turn != nil {
				<-turn
			}
			_, _ = io.WriteString(out, "after")
		}
		_ = out.Close()
	}()
	return in
}

// sumOf returns the length and the hash of a body.
func sumOf(body io.Reader, _ chan<- struct{}) string {
	all, _ := io.ReadAll(body)
	return fmt.Sprintf("%d %x", len(all), sha256.Sum256(all))
}

// lengthOf returns the length of a body with random content.
func lengthOf(body io.Reader, _ chan<- struct{}) string {
	n, _ := io.Copy(io.Discard, body)
	return fmt.Sprint(n)
}

// events reads two events. The second arrives only after the first has been received.
func events(body io.Reader, turn chan<- struct{}) string {
	in := bufio.NewReader(body)
	first, _ := in.ReadString('\n')
	turn <- struct{}{}
	rest, _ := io.ReadAll(in)
	return strings.Join(strings.Fields(first+string(rest)), " ")
}

// outcome is the complete response.
type outcome struct {
	text            string // status and body, after the informational responses
	header, trailer http.Header
	major           int
}

// make sends the request and returns the response.
func (e exchange) make(client *http.Client, url, userAgent string, turn chan struct{}) (outcome, error) {
	var body io.Reader
	if e.body != nil {
		if e.path == "/up" {
			body = e.body(turn)
		} else {
			body = e.body(nil)
		}
	}
	var informational []string
	ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
		if code != http.StatusContinue { // the number of these responses depends on timing
			informational = append(informational, fmt.Sprint(code)+" ")
		}
		return nil
	}})
	r, err := http.NewRequestWithContext(ctx, e.method, url, body)
	if err != nil {
		return outcome{}, err
	}
	r.Header["User-Agent"] = []string{userAgent}
	for name, value := range e.header {
		r.Header.Set(name, value)
	}
	if e.trailer != "" {
		r.Trailer = http.Header{"X-In": {e.trailer}}
	}
	response, err := client.Do(r)
	if err != nil {
		return outcome{}, err
	}
	defer response.Body.Close()
	var text string
	if e.read != nil {
		text = e.read(response.Body, turn)
	} else {
		all, err := io.ReadAll(response.Body)
		if err != nil {
			return outcome{}, err
		}
		text = string(all)
	}
	if kind, _, ok := strings.Cut(response.Header.Get("Content-Type"), "; boundary="); ok {
		response.Header.Set("Content-Type", kind) // the boundary is random
	}
	for _, name := range []string{"Date", "Alt-Svc", "Trailer"} { // a time, a port, and names in random order
		response.Header.Del(name)
	}
	return outcome{
		strings.Join(informational, "") + fmt.Sprint(response.StatusCode) + " " + text, response.Header, response.Trailer, response.ProtoMajor,
	}, nil
}

// TestProtocolsPass makes all exchanges in all versions of HTTP with a guarded site and
// with the same site without a guard. Allowed clients must get equal responses.
func TestProtocolsPass(t *testing.T) {
	t.Parallel()
	root := harness.Files(t, map[string]string{"x.txt": "0123456789", "robots.txt": harness.ClosedRobots})
	var turn turns
	o := harness.NewOrigin(t, harness.ClosedRobots, turn.rich)
	const content = `
	handle_path /files/* {
		root $ROOT
		file_server
	}
	handle_path /packed/* {
		encode gzip {
			minimum_length 1
		}
		root $ROOT
		file_server
	}
	reverse_proxy $ORIGIN`
	guarded := servePolyglot(t, "robots_guard enforce"+content, "$ROOT", root, "$ORIGIN", o.Address())
	plain := servePolyglot(t, content, "$ROOT", root, "$ORIGIN", o.Address())
	guarded.warm()
	var count atomic.Int64
	for _, by := range protocols {
		t.Run(by.name, func(t *testing.T) {
			t.Parallel()
			client := by.client(t)
			for _, e := range exchanges {
				if by.name == "HTTP/1.0" && e.since > 0 {
					continue
				}
				do := func(s polyglot, userAgent string) outcome {
					query := fmt.Sprint(count.Add(1))
					got, err := e.make(client, s.at(by, e.path+"?"+query), userAgent, turn.of(query))
					if err != nil {
						t.Errorf("%s as %q: %v", e.name, userAgent, err)
					}
					return got
				}
				want := do(plain, harness.Firefox)
				if !strings.HasPrefix(want.text, e.want) || want.major != by.major {
					t.Errorf("%s without a guard: got %.200q by HTTP/%d, want %.200q", e.name, want.text, want.major, e.want)
				}
				back := e.trailer
				if by.major == 3 {
					// quic-go sets the trailer in the request that it made, but Caddy's
					// handlers get a copy.
					back = ""
				}
				if e.trailer != "" && (want.trailer.Get("X-Back") != back || want.trailer.Get("X-Sum") != "42") {
					t.Errorf("%s without a guard: the trailer is %v", e.name, want.trailer)
				}
				for _, userAgent := range []string{harness.Firefox, harness.Bingbot, harness.Curl, harness.Slack, ""} {
					if got := do(guarded, userAgent); !reflect.DeepEqual(got, want) {
						t.Errorf("%s as %q: got %.200q %v %v, without a guard %.200q %v %v",
							e.name, userAgent, got.text, got.header, got.trailer, want.text, want.header, want.trailer)
					}
				}
			}
		})
	}
}
