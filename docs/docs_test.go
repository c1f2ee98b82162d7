// Package docs tests what the documents in this directory say.
package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// reference is how the documents name a test: package.Test, or
// package.Test/case with the case's name as it stands in the source.
var reference = regexp.MustCompile("`([a-z/]+)\\.(Test\\w+)(?:/([^`]+))?`")

// testsOf returns the tests of a package and the strings in the file of each.
func testsOf(t *testing.T, directory string) map[string]map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", directory, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in %s: %v", directory, err)
	}
	tests := make(map[string]map[string]bool)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		literals := make(map[string]bool)
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil {
					literals[s] = true
				}
			}
			return true
		})
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				tests[f.Name.Name] = literals
			}
		}
	}
	return tests
}

// TestTestsAreNamedInTables wants names of tests in tables only, for readers who look
// for them: they tell others nothing.
func TestTestsAreNamedInTables(t *testing.T) {
	for _, document := range documents(t) {
		if !strings.HasPrefix(document, "../docs/") && document != "../README.md" {
			continue
		}
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(fenced.ReplaceAllString(string(text), "")) {
			if name := reference.FindString(line); name != "" && !strings.HasPrefix(line, "|") {
				t.Errorf("%s names %s in a sentence", document, name)
			}
		}
	}
}

// TestNamedTestsExist looks up every test that a document names.
func TestNamedTestsExist(t *testing.T) {
	documents, err := filepath.Glob("*.md")
	if err != nil || len(documents) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	documents = append(documents, guidePath)
	packages := make(map[string]map[string]map[string]bool)
	for _, document := range documents {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, m := range reference.FindAllStringSubmatch(line, -1) {
				directory, test, subtest := m[1], m[2], m[3]
				if packages[directory] == nil {
					packages[directory] = testsOf(t, directory)
				}
				literals, ok := packages[directory][test]
				if !ok {
					t.Errorf("%s:%d: %s has no %s", document, i+1, directory, test)
				} else if subtest != "" && !literals[subtest] {
					t.Errorf("%s:%d: %s.%s has no case %q", document, i+1, directory, test, subtest)
				}
			}
		}
	}
}

// TestEveryClauseHasATest reads the table of clauses in judging.md.
func TestEveryClauseHasATest(t *testing.T) {
	text, err := os.ReadFile("judging.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Clause by clause\n")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 3 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "clause" {
			continue
		}
		rows++
		if len(cells) != 5 {
			t.Errorf("%d cells in %.60q", len(cells)-2, line)
		} else if !reference.MatchString(cells[3]) {
			t.Errorf("no test for %.60q", cells[1])
		}
	}
	if rows < 15 {
		t.Errorf("%d clauses, want all", rows)
	}
}

// TestEveryRuleHasATest reads the tables of the sections that describe features.
func TestEveryRuleHasATest(t *testing.T) {
	for section, page := range map[string]string{"Change guard": "judging.md", "Storage": "storage.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		_, table, _ := strings.Cut(string(text), "\n## "+section+"\n")
		table, _, _ = strings.Cut(table, "\n## ")
		rows := 0
		for line := range strings.Lines(table) {
			cells := strings.Split(strings.TrimSpace(line), "|")
			if len(cells) < 3 || strings.HasPrefix(cells[1], "---") {
				continue
			}
			if rows++; rows > 1 && (len(cells) != 5 || !reference.MatchString(cells[3])) {
				t.Errorf("%s: no test for %.60q", section, line)
			}
		}
		if rows < 5 {
			t.Errorf("%s: %d rows", section, rows)
		}
	}
}
