package publish

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serveList returns a server with this handler, and the list at its URL.
func serveList(t *testing.T, answer http.HandlerFunc) (*httptest.Server, *RuleList) {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	l, err := NewRuleList(server.URL+"/rules.json", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return server, l
}

// TestHostileAnswers rejects responses that are not lists. The previous list stays.
func TestHostileAnswers(t *testing.T) {
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	for range 2 << 10 { // 32 MiB, twice the limit
		if _, err := zip.Write(make([]byte, 16<<10)); err != nil {
			t.Fatal(err)
		}
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	body := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	inside := httptest.NewServer(body(list("x")))
	defer inside.Close()
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"empty": {body(""), "it is empty"},
		"null":  {body("null"), "and not null"},
		"HTML":  {body("<!doctype html><html>"), "this is a web page"},
		"shorter than it says": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, list("a"))
		}, "unexpected EOF"},
		"longer than it says": {func(w http.ResponseWriter, _ *http.Request) {
			text := list("a")
			w.Header().Set("Content-Length", fmt.Sprint(len(text)-3))
			_, _ = w.Write([]byte(text[:len(text)-3]))
		}, "unexpected end of JSON input"},
		"gzip bomb": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(zipped.Bytes())
		}, "the list has more than 16 MiB"},
		"another coding": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "x")
		}, `Content-Encoding "br", which was not requested`},
		"endless": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
					return
				}
			}
		}, "the list has more than 16 MiB"},
		"gone":            {http.NotFound, "the answer is 404 Not Found"},
		"not modified":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, "the answer is 304"},
		"a part":          {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusPartialContent) }, "the answer is 206"},
		"to a file":       {redirect("file:///etc/passwd"), "refusing to follow a redirect from http to file:///etc/passwd"},
		"to nowhere":      {redirect("http:///"), "refusing to follow a redirect from http to http:///"},
		"to the inside":   {redirect(inside.URL), "which is not a public address; if this is intended, write the redirect's URL after rules"},
		"to metadata":     {redirect("http://169.254.169.254/latest/"), "refusing to follow a redirect to 169.254.169.254"},
		"in a circle":     {redirect("/rules.json"), "more than 5 redirects"},
		"hangs up":        {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"an endless head": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) }, "header"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := false
			server, l := serveList(t, func(w http.ResponseWriter, r *http.Request) {
				if !bad {
					fmt.Fprint(w, list("a", "b"))
					return
				}
				tc.answer(w, r)
			})
			l.Load(t.Context(), 1, nil)
			bad = true
			l.Load(t.Context(), 2, nil)
			err := l.LastError()
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), server.URL) || strings.Count(err.Error(), server.URL) > 1 {
				t.Errorf("%v, want %s", err, tc.want)
			}
			if idsOf(l.Content()) != "a b" {
				t.Errorf("the list has %s", idsOf(l.Content()))
			}
		})
	}
}

// TestSlowAnswers checks that a slow response ends with a timeout.
func TestSlowAnswers(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"hangs": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"drips": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte(" ")); err != nil {
					return
				}
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Millisecond)
			}
		},
	} {
		_, l := serveList(t, answer)
		why := errors.New("it took too long")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, why)
		l.Load(ctx, 1, nil)
		cancel()
		if err := l.LastError(); !errors.Is(err, why) || l.Content() != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestConditionalRequests sends both validators. Compressed responses and redirects on the same host
// are accepted.
func TestConditionalRequests(t *testing.T) {
	full := 0
	server, _ := serveList(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case user != "caddy" || password != "secret":
			w.WriteHeader(http.StatusUnauthorized)
		case r.Header.Get("If-None-Match") == `"1"` && r.Header.Get("If-Modified-Since") != "":
			w.WriteHeader(http.StatusNotModified)
		default:
			full++
			w.Header().Set("ETag", `"1"`)
			w.Header().Set("Last-Modified", "Fri, 27 Nov 2026 00:00:00 GMT")
			w.Header().Set("Cache-Control", "max-age=600")
			w.Header().Set("Content-Encoding", "gzip")
			zip := gzip.NewWriter(w)
			fmt.Fprint(zip, list("a"))
			_ = zip.Close()
		}
	})
	l, err := NewRuleList(strings.Replace(server.URL, "://", "://caddy:secret@", 1), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		l.Load(t.Context(), i, nil)
		if idsOf(l.Content()) != "a" || l.LastError() != nil {
			t.Fatalf("%s, %v", idsOf(l.Content()), l.LastError())
		}
	}
	if rest := l.TimeUntilNextFetch(); full != 1 || rest < time.Minute || rest > 10*time.Minute {
		t.Errorf("%d full answers, the next in %v", full, rest)
	}
	if strings.Contains(l.Name(), "secret") {
		t.Errorf("the name is %s", l.Name())
	}
}

func TestPlaces(t *testing.T) {
	for place, want := range map[string]string{
		"":                           "rules needs a file or a URL",
		"ftp://a.test/rules":         "not an http or https URL",
		"file:///etc/passwd":         "not an http or https URL",
		"https://":                   "not an http or https URL",
		"http://a b":                 "is not a URL",
		"https://a.test/rules":       "",
		"http://127.0.0.1:80/r.json": "",
		"rules.json":                 "",
	} {
		_, err := NewRuleList(place, time.Now)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", place, err, want)
		}
	}
}

// TestFile reads a changed file. The last good version stays if the file is missing or invalid.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.json")
	l, err := NewRuleList(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	load := 0
	says := func(want, trouble string) {
		t.Helper()
		load++
		l.Load(t.Context(), load, nil)
		err := l.LastError()
		if idsOf(l.Content()) != want || (err == nil) != (trouble == "") || err != nil && !strings.Contains(err.Error(), trouble) {
			t.Errorf("%s, %v, want %s", idsOf(l.Content()), err, want)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	says("nothing", "rules.json: file not found; correct the path")
	write(list("a"))
	says("a", "")
	write(list("a", "b"))
	says("a b", "")
	write(`{"rules": [{"id": "a",` + "\n" + `"foor": []}]}`)
	says("a b", path+`:2:1: unknown field "foor"; did you mean for?`)
	says("a b", "did you mean for?") // the file is not read again
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	says("a b", "rules.json: file not found; correct the path")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	says("a b", "not a regular file")
	relative, _ := NewRuleList("no-such-rules.json", time.Now)
	relative.Load(t.Context(), 1, nil)
	if err := relative.LastError(); err == nil || !strings.Contains(err.Error(), "a relative path begins where Caddy was started, so this is /") {
		t.Errorf("a relative path: %v", err)
	}
}

// TestReport checks the number of rules and the present problem.
func TestListReport(t *testing.T) {
	bad := false
	server, l := serveList(t, func(w http.ResponseWriter, r *http.Request) {
		if bad {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, list("a", "b"))
	})
	site := &ScheduleBuilder{Sources: []*RuleList{l}}
	report := func() string { return fmt.Sprintf("%+v", site.ReportLists()) }
	name := server.URL + "/rules.json"
	if got, want := report(), fmt.Sprintf("[{Name:%s Rules:0 Failure:}]", name); got != want {
		t.Errorf("before it is read: %s, want %s", got, want)
	}
	l.Load(t.Context(), 1, nil)
	if got, want := report(), fmt.Sprintf("[{Name:%s Rules:2 Failure:}]", name); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	bad = true
	l.Load(t.Context(), 2, nil)
	if got := report(); !strings.Contains(got, "Rules:2 Failure:") || !strings.Contains(got, "404 Not Found") {
		t.Errorf("gone: %s", got)
	}
}
