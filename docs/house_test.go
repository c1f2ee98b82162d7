package docs

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	modulePath = "github.com/robotsguard/caddy-robots-guard"
	guidePath  = "../CONTRIBUTING.md"
)

// house is what the repository holds, of all its modules.
type house struct {
	files    map[string]string        // texts of Go files by their paths
	packages map[string]*housePackage // by their directories
	nested   []string                 // the directories of other modules than the product's
}

// housePackage is a package of one of the modules.
type housePackage struct {
	named   bool              // by a comment
	imports map[string]string // directories of packages of ours, each with a file that imports it
}

// readHouse parses the imports of every Go file, those for other systems too.
func readHouse(t *testing.T) house {
	t.Helper()
	h := house{files: make(map[string]string), packages: make(map[string]*housePackage)}
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative := path.Clean(strings.TrimPrefix(filepath.ToSlash(name), "../"))
		switch {
		case entry.IsDir() && name != "..":
			if base := entry.Name(); base == "node_modules" || base[0] == '.' || base[0] == '_' || base == "testdata" {
				return fs.SkipDir
			}
		case entry.Name() == "go.mod" && relative != "go.mod":
			h.nested = append(h.nested, path.Dir(relative))
		case strings.HasSuffix(name, ".go"):
			h.add(t, relative)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// add takes a file into the house.
func (h *house) add(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	h.files[name] = string(text)
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	p := h.packages[path.Dir(name)]
	if p == nil {
		p = &housePackage{imports: make(map[string]string)}
		h.packages[path.Dir(name)] = p
	}
	doc, called := file.Doc.Text(), strings.TrimSuffix(file.Name.Name, "_test")
	p.named = p.named || strings.HasPrefix(doc, "Package "+called+" ") || called == "main" && strings.HasPrefix(doc, "Command ")
	if !strings.HasSuffix(name, "_test.go") {
		p.note(name, file.Imports)
	}
}

// note keeps which packages of ours a file imports.
func (p *housePackage) note(file string, imports []*ast.ImportSpec) {
	for _, spec := range imports {
		name, _ := strconv.Unquote(spec.Path.Value) // the parser has done so
		if directory, ours := strings.CutPrefix(name, modulePath); ours {
			p.imports[cmp.Or(strings.TrimPrefix(directory, "/"), ".")] = file
		}
	}
}

// onMap returns the directories of packages that the map has to have: those of
// the product's module but for the black-box tests.
func (h house) onMap() []string {
	within := func(directory, root string) bool { return directory == root || strings.HasPrefix(directory, root+"/") }
	var directories []string
	for _, directory := range slices.Sorted(maps.Keys(h.packages)) {
		foreign := slices.ContainsFunc(h.nested, func(module string) bool { return within(directory, module) })
		if !foreign && !within(directory, "integration") {
			directories = append(directories, directory)
		}
	}
	return directories
}

// floors reads the map in CONTRIBUTING.md: the floor of each package.
func floors(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile(guidePath)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]int)
	row := regexp.MustCompile("(?m)^\\| (\\d+) \\| `([^`]+)` \\| ([^|]+) \\|\r?$")
	last := 0
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		floor, _ := strconv.Atoi(m[1]) // digits
		if _, twice := found[m[2]]; twice {
			t.Errorf("the map has %s twice", m[2])
		}
		if floor < last {
			t.Errorf("the map has %s, of floor %d, below floor %d: lowest first", m[2], floor, last)
		}
		found[m[2]], last = floor, floor
	}
	return found
}

// TestMap holds the map in CONTRIBUTING.md to the code: it has each package, and
// every import goes to a lower floor, so that there is no circle.
func TestMap(t *testing.T) {
	h, floors := readHouse(t), floors(t)
	directories := h.onMap()
	for _, directory := range directories {
		floor, ok := floors[directory]
		if !ok {
			t.Errorf("%s is not on the map: give it a row with the floor above what it imports", directory)
			continue
		}
		for imported, file := range h.packages[directory].imports {
			if below := floors[imported]; below >= floor {
				t.Errorf("%s: %s, on floor %d, imports %s, on floor %d", file, directory, floor, imported, below)
			} else if !slices.Contains(directories, imported) {
				t.Errorf("%s: the product imports %s, which is for tests", file, imported)
			}
		}
	}
	for directory := range floors {
		if !slices.Contains(directories, directory) {
			t.Errorf("the map has %s, which is no package", directory)
		}
	}
	if len(directories) < 30 {
		t.Errorf("%d packages found, want all", len(directories))
	}
}

// TestPackagesAreNamed wants a comment on each package that says what it is.
func TestPackagesAreNamed(t *testing.T) {
	for directory, p := range readHouse(t).packages {
		if !p.named {
			t.Errorf("%s: no file has a comment that begins with Package or Command and its name", directory)
		}
	}
}

// TestGuideNamesWhatIsThere looks up every file and folder that CONTRIBUTING.md
// names.
func TestGuideNamesWhatIsThere(t *testing.T) {
	text, err := os.ReadFile(guidePath)
	if err != nil {
		t.Fatal(err)
	}
	paths := regexp.MustCompile("`([\\w.-]+(?:/[\\w.-]+)*/?)`|\\]\\(([^)#:]+)\\)")
	for i, line := range bytes.Split(text, []byte("\n")) {
		for _, m := range paths.FindAllSubmatch(line, -1) {
			name := cmp.Or(string(m[1]), string(m[2]))
			if !strings.ContainsAny(name, "/") && !strings.HasSuffix(name, ".md") || reference.Match(m[0]) {
				continue // a word of another kind
			}
			if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(name))); err != nil {
				t.Errorf("CONTRIBUTING.md:%d: there is no %s", i+1, name)
			}
		}
	}
}
