package docs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeIsShort bounds what a newcomer has to read.
func TestReadmeIsShort(t *testing.T) {
	const most = 1500
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if words := len(strings.Fields(string(text))); words > most {
		t.Errorf("README.md has %d words, more than %d: move something to docs/", words, most)
	}
	if m := reference.Find(text); m != nil {
		t.Errorf("README.md names the test %s, which tells its reader nothing", m)
	}
}

// documents returns the paths of all Markdown files of the repository.
func documents(t *testing.T) (found []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		switch base := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && name != ".." && (base == "node_modules" || base == "testdata" || base[0] == '.'):
			return fs.SkipDir
		case strings.HasSuffix(base, ".md"):
			found = append(found, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil || len(found) < 20 {
		t.Fatalf("%d documents found: %v", len(found), err)
	}
	return found
}

// TestEveryDocumentIsListed wants a link to each document in docs/README.md.
func TestEveryDocumentIsListed(t *testing.T) {
	index, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents(t) {
		name, ok := strings.CutPrefix(document, "../docs/")
		if ok && name != "README.md" && !strings.Contains(string(index), "]("+name+")") {
			t.Errorf("docs/README.md has no link to %s", name)
		}
	}
}

var (
	fenced  = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// anchors returns the fragments by which the headings of a text can be linked.
func anchors(text string) map[string]bool {
	found := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		name := strings.ToLower(strings.TrimSpace(m[1]))
		name = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(name, "$1")
		name = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(name, "")
		found[strings.ReplaceAll(name, " ", "-")] = true
	}
	return found
}

// TestLinksLeadSomewhere follows every link of a document within the repository,
// to the heading where it names one.
func TestLinksLeadSomewhere(t *testing.T) {
	followed := 0
	for _, document := range documents(t) {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			target, fragment, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue // on the web
			}
			followed++
			file := document
			if target != "" {
				file = path.Join(path.Dir(document), target)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which is not there", document, m[1])
				continue
			}
			if fragment == "" || !strings.HasSuffix(file, ".md") {
				continue
			}
			if linked, err := os.ReadFile(file); err != nil || !anchors(fenced.ReplaceAllString(string(linked), ""))[fragment] {
				t.Errorf("%s links to %s, and there is no such heading", document, m[1])
			}
		}
	}
	if followed < 50 {
		t.Errorf("%d links followed, want all", followed)
	}
}
