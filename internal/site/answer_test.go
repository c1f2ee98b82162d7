package site

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var buf bytes.Buffer
	zip := gzip.NewWriter(&buf)
	if _, err := zip.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestDecodeBody(t *testing.T) {
	long := strings.Repeat("Disallow: /x\n", policy.MaxSize/5)
	packed := gzipped(t, "User-agent: *\n")
	for _, tc := range []struct {
		name   string
		coding []string
		body   []byte
		want   string
		err    string
	}{
		{"none", nil, []byte("x"), "x", ""},
		{"identity", []string{"identity"}, []byte("x"), "x", ""},
		{"gzip", []string{"gzip"}, packed, "User-agent: *\n", ""},
		{"x-gzip", []string{"X-Gzip"}, packed, "User-agent: *\n", ""},
		{"gzip, empty", []string{"gzip"}, nil, "", ""},
		{"gzip, more than is parsed", []string{"gzip"}, gzipped(t, long), long[:policy.MaxSize+1], ""},
		{"gzip, truncated", []string{"gzip"}, packed[:len(packed)-9], "", "unpacking"},
		{"gzip, checksum missing", []string{"gzip"}, packed[:len(packed)-2], "", "unpacking"},
		{"gzip in name only", []string{"gzip"}, []byte("User-agent: *\n"), "", "unpacking"},
		{"gzip twice", []string{"gzip", "gzip"}, packed, "", `"gzip, gzip"`},
		{"brotli", []string{"br"}, packed, "", `"br"`},
		{"a charset", []string{"UTF-8"}, []byte("User-agent: *\n"), "User-agent: *\n", ""},
		{"as some switch codings off", []string{"none"}, []byte("User-agent: *\n"), "User-agent: *\n", ""},
		{"two that are none", []string{"identity", "iso-8859-1"}, []byte("# \xe9\n"), "# \xe9\n", ""},
		{"one that is none and one that is", []string{"utf-8, br"}, packed, "", `"utf-8, br"`},
		{"one that nobody knows, and no text", []string{"lzma"}, []byte("]\x00\x00"), "", `"lzma"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			answer := fetchResultFromResponse(http.StatusOK, http.Header{"Content-Encoding": tc.coding}, tc.body)
			if string(answer.Body) != tc.want {
				t.Errorf("got %.100q", answer.Body)
			}
			if (answer.Err == nil) != (tc.err == "") || answer.Err != nil && !strings.Contains(answer.Err.Error(), tc.err) {
				t.Errorf("got error %v, want %q", answer.Err, tc.err)
			}
		})
	}
}

func TestAnswerOf(t *testing.T) {
	for status, want := range map[int]policy.AccessResult{
		100: policy.Unreachable, 101: policy.Unreachable, 200: policy.Successful, 203: policy.Successful, 204: policy.Successful,
		205: policy.Successful, 206: policy.Unreachable, 301: policy.Unavailable, 304: policy.Unreachable,
		401: policy.Unavailable, 404: policy.Unavailable, 429: policy.TooManyRequests, 451: policy.Unavailable,
		500: policy.Unreachable, 503: policy.Unreachable, 600: policy.Unreachable,
	} {
		answer := fetchResultFromResponse(status, nil, []byte("Disallow"))
		if answer.AccessResult() != want {
			t.Errorf("%d means %v, want %v", status, answer.AccessResult(), want)
		}
		if hasBody := status == 200 || status == 203; hasBody != (len(answer.Body) > 0) {
			t.Errorf("%d has body %q", status, answer.Body)
		}
	}
}
