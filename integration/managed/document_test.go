package managed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestDocument serves the base of docs/managed.md with the documented rule, and
// compares the result with the document byte by byte.
func TestDocument(t *testing.T) {
	t.Parallel()
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(root, "docs", "managed.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(data), "is added to the group, or to a copy of the `*` group:\n")
	parts := strings.Split(example, "```")
	if len(parts) < 5 || !strings.Contains(parts[2], "`disallow SemrushBot { /search }`") {
		t.Fatal("the example has changed")
	}
	base, want := strings.TrimPrefix(parts[1], "\n"), strings.TrimPrefix(parts[3], "\n")
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_txt {
			disallow SemrushBot {
				/search
			}
		}
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", harness.NewOrigin(t, base, nil).Address())
	if got := harness.Get(t, s.URL("/robots.txt"), harness.Googlebot).Body; strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
