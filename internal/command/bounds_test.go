package command

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesWithoutEnd rejects files that are too large without reading the rest.
func TestFilesWithoutEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	huge, robots := filepath.Join(dir, "huge"), filepath.Join(dir, "robots.txt")
	for name, text := range map[string]string{huge: "", robots: "User-agent: *\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(huge, 1<<40); err != nil {
		t.Skip("no file of a terabyte:", err)
	}
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{"test", "--robots", robots, huge}, "huge: the table of test cases is larger than 16 MiB"},
		{[]string{"registry", "diff", huge}, "huge: larger than 4 MiB"},
	} {
		if output, err := execute(t.Context(), Config{}, tc.args...); err == nil || !strings.Contains(output, tc.says) {
			t.Errorf("%q: %v, %q", tc.args, err, output)
		}
	}
	if _, err := readCases(io.MultiReader(strings.NewReader("x / allow\n"), strings.NewReader(strings.Repeat("# x\n", maxCases/4))), "-"); err == nil || !strings.Contains(err.Error(), "-: the table of test cases is larger than 16 MiB") {
		t.Errorf("a table without end on standard input: %v", err)
	}
}
