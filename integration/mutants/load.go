package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A source is a package as the compiler sees it.
type source struct {
	path  string // below the module's
	dir   string
	fset  *token.FileSet
	files []file
	types *types.Package
	info  *types.Info
}

// A file is one of its files.
type file struct {
	name string
	text []byte
	tree *ast.File
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Module                  *struct{ Path string }
}

// load reads a package and checks its types, by what the compiler knows of its imports.
func load(name string) (*source, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module", name)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := make(map[string]string)
	var last listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var next listed
		if err := d.Decode(&next); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[next.ImportPath], last = next.Export, next
	}
	if last.Module == nil {
		return nil, errors.New("it is in no module")
	}
	p := &source{
		path: strings.TrimPrefix(strings.TrimPrefix(last.ImportPath, last.Module.Path), "/"), dir: last.Dir, fset: token.NewFileSet(),
		info: &types.Info{Types: make(map[ast.Expr]types.TypeAndValue)},
	}
	var trees []*ast.File
	for _, name := range last.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil {
			return nil, err
		}
		tree, err := parser.ParseFile(p.fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.files, trees = append(p.files, file{name, text, tree}), append(trees, tree)
	}
	config := types.Config{Importer: importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	p.types, err = config.Check(last.ImportPath, p.fset, trees, p.info)
	return p, err
}
