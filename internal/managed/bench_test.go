package managed

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// BenchmarkCompose makes texts of a base with as many rules.
func BenchmarkCompose(b *testing.B) {
	plan, err := NewPlan(uaident.Default(), []Rule{disallow("ai_training"), disallow("SemrushBot", "/a", "/b"), disallow("*", "/c")}, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, rules := range []int{10, 1000, 10_000} {
		var base bytes.Buffer
		base.WriteString("User-agent: *\n")
		for i := range rules {
			fmt.Fprintf(&base, "Disallow: /path/%d\n", i)
		}
		b.Run(fmt.Sprintf("%drules", rules), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := plan.Compose(base.Bytes(), "a.example"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkServe answers with a page of usual size.
func BenchmarkServe(b *testing.B) {
	page := NewPage(string(bytes.Repeat([]byte("Disallow: /x\n"), 300)), time.Now())
	r := httptest.NewRequest(http.MethodGet, "/robots.txt", nil)
	b.ReportAllocs()
	for b.Loop() {
		page.Serve(discard{}, r, time.Hour)
	}
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}
