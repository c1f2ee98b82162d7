package docs

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// messagesPage lists all messages, so that a reader can review the texts of a change.
const messagesPage = "testdata/messages.txt"

// TestMessages compares the messages in the code with the golden file.
func TestMessages(t *testing.T) {
	var page strings.Builder
	page.WriteString("Messages of the code by package: errors, findings, logs, alerts, and texts of the commands.\n" +
		"Written by: go test ./docs -run TestMessages -update\n")
	byPackage := make(map[string][]string)
	for _, root := range []string{"caddymodule", "internal", "policy", "uaident"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_gen.go") {
				return err
			}
			dir := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), ".."+string(filepath.Separator)))
			byPackage[dir] = append(byPackage[dir], messagesOf(t, path)...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(byPackage)) {
		if len(byPackage[dir]) > 0 {
			page.WriteString("\n" + dir + "\n\n" + strings.Join(slices.Compact(byPackage[dir]), "\n") + "\n")
		}
	}
	if *update {
		if err := os.WriteFile(messagesPage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(messagesPage); err != nil || string(want) != page.String() {
		t.Errorf("%s is outdated (%v); run\n\tgo test ./docs -run TestMessages -update\nand read its changes", messagesPage, err)
	}
}

// messagesOf returns the messages of a file in their order, one line each.
func messagesOf(t *testing.T, path string) (messages []string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field: // its tag is no message
			return n.Tag == nil
		case ast.Expr:
			if text, ok := literalText(n); ok {
				if isMessage(text) {
					messages = append(messages, "  "+strings.ReplaceAll(joinLines(text), "\n", "\n  | "))
				}
				return false
			}
		}
		return true
	})
	return messages
}

var lineInParagraph = regexp.MustCompile(`([^\s|])\n(--[a-z]|[^\s|\-])`)

// joinLines joins the lines of each paragraph of a text, and removes empty lines. Indented lines,
// lists and examples of commands stay.
func joinLines(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if !strings.Contains("\n"+p, "\n\t") && !strings.Contains(p, "  ") && !strings.Contains(p, "\ncaddy ") {
			paragraphs[i] = lineInParagraph.ReplaceAllString(p, "$1 $2")
		}
	}
	return strings.Join(paragraphs, "\n")
}

// literalText returns the text of a string literal, or of a sum with a string literal. Other parts of
// a sum are shown as an ellipsis.
func literalText(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return strings.TrimSpace(text), err == nil
	case *ast.BinaryExpr:
		left, isLeft := literalText(e.X)
		right, isRight := literalText(e.Y)
		if e.Op != token.ADD || !isLeft && !isRight {
			return "", false
		}
		if !isLeft {
			left = "…"
		}
		if !isRight {
			right = "…"
		}
		return left + " " + right, true
	}
	return "", false
}

var (
	fourWords = regexp.MustCompile(`(?s)\b[a-z]{2,}\b.*\b[a-z]{2,}\b.*\b[a-z]{2,}\b.*\b[a-z]{2,}\b`)
	noMessage = regexp.MustCompile(`(?s)^\s*[<{(\[^]|Mozilla/|\\[bdsw]|^[^ ]*$|\(\?`) // markup, JSON, a User-Agent, a regular expression
)

// isMessage reports whether a text has four words and is no code.
func isMessage(text string) bool { return fourWords.MatchString(text) && !noMessage.MatchString(text) }
