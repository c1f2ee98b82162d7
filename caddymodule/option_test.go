package caddymodule

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/notify"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
)

// blocks returns the options of each block.
func blocks() map[string][]option.Option {
	return map[string][]option.Option{
		"directive": new(Handler).options(nil),
		"global":    new(App).options(),
		"verify":    new(Verify).options(),
		"crawler":   new(Crawler).Options(),
		"registry":  new(Registry).Options(),
		"notify":    new(notify.ReceiverConfig).Options(),
		"rate":      new(Rate).Options(),
	}
}

// TestOptionUsage passes invalid arguments to each option. The error has the usage.
func TestOptionUsage(t *testing.T) {
	for block, options := range blocks() {
		for _, o := range options {
			if len(o.Usage) < 5 {
				t.Errorf("%s %s: no usage", block, o.Name)
			}
			for _, line := range []string{o.Name, o.Name + strings.Repeat(" ''", 3)} {
				d := caddyfile.NewTestDispenser(line)
				d.Next()
				if err := o.Parse(d); err != nil && (!strings.Contains(err.Error(), o.Usage) || !strings.HasSuffix(err.Error(), ", at Testfile:1")) {
					t.Errorf("%s %s: %v", block, line, err)
				}
			}
		}
	}
}

// TestOptionsInSyntax compares the options with the syntax in comments and in configuration.md.
func TestOptionsInSyntax(t *testing.T) {
	directive := syntaxOf(t, "caddyfile.go")
	same(t, "the comment of the directive", optionsIn(directive, "robots_guard"), blocks()["directive"])
	same(t, "the comment of rate", optionsIn(directive, "rate"), blocks()["rate"])
	global := syntaxOf(t, "caddyfile_app.go")
	same(t, "the comment of the global option", optionsIn(global, "robots_guard"), blocks()["global"])
	same(t, "the comment of verify", optionsIn(global, "verify"), blocks()["verify"])
	same(t, "the comment of crawler", optionsIn(global, "crawler"), blocks()["crawler"])
	same(t, "the comment of registry", optionsIn(global, "registry"), blocks()["registry"])
	same(t, "the comment of notify", optionsIn(global, "notify"), blocks()["notify"])

	_, shown, _ := strings.Cut(page(t, "docs/configuration.md"), "\n## Directive\n\n```\n")
	shown, _, _ = strings.Cut(shown, "```")
	if spaced(shown) != spaced(directive) {
		t.Errorf("docs/configuration.md shows\n%s\nand the comment\n%s", shown, directive)
	}
}

// TestOptionsInTables compares the options with the tables in the documents.
func TestOptionsInTables(t *testing.T) {
	configuration, identity := page(t, "docs/configuration.md"), page(t, "docs/identity.md")
	same(t, "docs/configuration.md", slices.DeleteFunc(tableIn(t, configuration, "\n## Directive\n"),
		func(name string) bool { return slices.Contains(modeWords, name) }), blocks()["directive"])
	same(t, "docs/configuration.md", tableIn(t, configuration, "\n## Shared settings and storage\n"), blocks()["global"])
	same(t, "docs/configuration.md", tableIn(t, configuration, "\n## Alerts\n"), blocks()["notify"])
	same(t, "docs/rates.md", tableIn(t, page(t, "docs/rates.md"), "\n| option of `rate` |"), blocks()["rate"])
	same(t, "docs/identity.md", tableIn(t, identity, "\n| option of `verify` |"), blocks()["verify"])
	same(t, "docs/identity.md", tableIn(t, identity, "\n| option of `crawler` |"), blocks()["crawler"])
}

// same fails if the names and their order differ from the options.
func same(t *testing.T, where string, names []string, options []option.Option) {
	t.Helper()
	if want := option.OptionNames(options); !slices.Equal(names, want) {
		t.Errorf("%s has the options\n\t%s, and there are\n\t%s", where, names, want)
	}
}

// syntaxOf returns the syntax in the comment of UnmarshalCaddyfile in a file.
func syntaxOf(t *testing.T, file string) string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range parsed.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name == "UnmarshalCaddyfile" {
			_, syntax, _ := strings.Cut(f.Doc.Text(), "Syntax:\n")
			if i := strings.Index(syntax, "\n\t}\n"); i >= 0 {
				return syntax[:i+4]
			}
		}
	}
	t.Fatalf("%s has no UnmarshalCaddyfile with a syntax", file)
	return ""
}

// optionsIn returns the first word of each line at the top level of a block.
func optionsIn(syntax, block string) (names []string) {
	depth, inside := 0, 0
	for line := range strings.Lines(syntax) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if words[0] == "}" {
			if depth--; depth < inside {
				return names
			}
			continue
		}
		if depth == inside && inside > 0 {
			names = append(names, words[0])
		}
		if words[len(words)-1] == "{" {
			if depth++; inside == 0 && words[0] == block {
				inside = depth
			}
		}
	}
	return names
}

var (
	cell = regexp.MustCompile("^\\| (`[^|]*(?:\\\\\\|[^|]*)*) \\|")
	code = regexp.MustCompile("`(\\w+)[^`]*`")
)

// tableIn returns the unique names in the first column of the first table after a text.
func tableIn(t *testing.T, page, behind string) (names []string) {
	t.Helper()
	_, rest, ok := strings.Cut(page, behind)
	if !ok {
		t.Fatalf("no %q", behind)
	}
	for line := range strings.Lines(rest) {
		first := cell.FindStringSubmatch(line)
		if first == nil {
			if len(names) > 0 {
				break
			}
			continue
		}
		for _, name := range code.FindAllStringSubmatch(first[1], -1) {
			if !slices.Contains(names, name[1]) {
				names = append(names, name[1])
			}
		}
	}
	return names
}

func page(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// spaced returns a text with one space between words.
func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }
