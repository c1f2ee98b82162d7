package harness

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRewrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	Write(t, file, "# A\n<!-- a -->\nold\n<!-- end -->\nbetween\n<!-- b -->\nkept\n<!-- end -->\n")
	if err := Rewrite(file, "<!-- a -->\n", "<!-- end -->\n", "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if want := "# A\n<!-- a -->\nnew\n<!-- end -->\nbetween\n<!-- b -->\nkept\n<!-- end -->\n"; err != nil || string(got) != want {
		t.Errorf("error %v, content\n%s\nwant\n%s", err, got, want)
	}
	if Rewrite(file, "<!-- c -->\n", "<!-- end -->\n", "new\n") == nil {
		t.Error("no error for a missing line")
	}
	Write(t, file, "# A\n<!-- a -->\nno end\n")
	if Rewrite(file, "<!-- a -->\n", "<!-- end -->\n", "new\n") == nil {
		t.Error("no error for a missing end line")
	}
}
