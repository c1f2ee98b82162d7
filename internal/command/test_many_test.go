package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/explain"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestManyCases bounds the cost of one case. A table may have hundreds of thousands of cases with
// unknown names, and a robots.txt tens of thousands of names.
func TestManyCases(t *testing.T) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "User-agent: Acme%dBot\n", i)
	}
	robots := policy.Parse([]byte(text.String() + "Disallow: /private/\n"))
	overlay := uaident.Default().NewOverlay(robots.GroupNames())
	c := explain.Case{UserAgent: "Mozilla/5.0 (compatible; Acme7Bot/1.0; +https://acme.example/bot)", URL: "/private/x"}
	if r := c.Judge(robots, overlay); r.Actual != explain.Disallow {
		t.Fatalf("%+v, want what is forbidden", r)
	}
	judged := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.Judge(robots, overlay)
		}
	})
	if most := int64(64 << 10); judged.AllocedBytesPerOp() > most { // all names need four times that
		t.Errorf("a case allocates %d bytes, want at most %d", judged.AllocedBytesPerOp(), most)
	}
	i := 0
	noted := testing.AllocsPerRun(100, func() {
		i++
		defaultSite.ClientNote(explain.Request{Token: fmt.Sprintf("Zorkblatter%dBot", i)})
	})
	if noted > 20 { // the registry has thousands of names
		t.Errorf("to look for a name that is meant takes %v allocations", noted)
	}
}
