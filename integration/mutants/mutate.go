package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// An edit takes the place of some bytes of a file.
type edit struct {
	from, to int
	text     string
}

// A mutator is at work on one file.
type mutator struct {
	*source
	file
	function string
	edits    []edit
	mutants  []mutant
	first    int // the number of its first mutant
}

// mutate returns the files with all mutants in them, by name, and which those are. Which
// of them counts is what mutantNow is.
func (p *source) mutate() (files map[string][]byte, all []mutant) {
	files = make(map[string][]byte)
	for _, f := range p.files {
		m := mutator{source: p, file: f, first: len(all) + 1}
		for _, d := range f.tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && !isGeneric(fn) {
				m.function = fn.Name.Name
				ast.Inspect(fn.Body, m.visit)
			}
		}
		files[f.name] = m.apply()
		all = append(all, m.mutants...)
	}
	return files, all
}

// isGeneric reports whether a function or the type of its receiver has type parameters.
func isGeneric(fn *ast.FuncDecl) bool {
	if fn.Recv == nil {
		return fn.Type.TypeParams != nil
	}
	receiver := fn.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	_, ok := receiver.(*ast.Ident)
	return !ok
}

// visit changes a node, and reports whether to look for more in it.
func (m *mutator) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.ArrayType:
		return false // its length is a constant
	case *ast.IncDecStmt:
		m.step(n)
	case *ast.BinaryExpr:
		if m.info.Types[n].Value != nil {
			return false // a constant
		}
		m.operation(n)
	}
	return true
}

// step changes x++ and x--, if x has an address.
func (m *mutator) step(n *ast.IncDecStmt) {
	if index, ok := n.X.(*ast.IndexExpr); ok {
		if _, ok := m.info.Types[index.X].Type.Underlying().(*types.Map); ok {
			return
		}
	}
	number := m.add(n.TokPos, n.Tok, others[n.Tok][0])
	m.insert(n.Pos(), fmt.Sprintf("mutantStep(%d, &", number))
	at := m.offset(n.TokPos)
	m.edits = append(m.edits, edit{at, at + len(n.Tok.String()), fmt.Sprintf(", %d)", step(n.Tok))})
}

// step returns what a step adds.
func step(t token.Token) int {
	if t == token.INC {
		return 1
	}
	return -1
}

// operation changes an operation of two operands: a function takes its place that knows
// them all.
func (m *mutator) operation(n *ast.BinaryExpr) {
	kind, ok := m.typeOf(n)
	if !ok || len(others[n.Op]) == 0 {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "(func() %s { switch mutantNow {", kind)
	for _, op := range others[n.Op] {
		fmt.Fprintf(&b, " case %d: return (%s) %s (%s);", m.add(n.OpPos, n.Op, op), m.original(n.X), op, m.original(n.Y))
	}
	b.WriteString(" }; return ")
	m.insert(n.Pos(), b.String())
	m.insert(n.End(), " }())")
}

// typeOf returns the type of an operation as this file writes it. ok is false for strings
// and for types that it cannot write.
func (m *mutator) typeOf(n ast.Expr) (name string, ok bool) {
	kind := types.Default(m.info.Types[n].Type)
	if basic, is := kind.Underlying().(*types.Basic); is && basic.Info()&types.IsString != 0 {
		return "", false
	}
	ok = true
	name = types.TypeString(kind, func(p *types.Package) string {
		if p == m.types {
			return ""
		}
		for _, i := range m.tree.Imports {
			if strings.Trim(i.Path.Value, `"`) != p.Path() {
				continue
			}
			if i.Name != nil {
				return i.Name.Name
			}
			return p.Name()
		}
		ok = false
		return p.Name()
	})
	return name, ok
}

// add notes a mutant and returns its number.
func (m *mutator) add(at token.Pos, was, now token.Token) int {
	position := m.fset.Position(at)
	lines := strings.Split(string(m.text), "\n")
	line := lines[position.Line-1]
	column := position.Column - 1
	changed := line[:column] + now.String() + line[column+len(was.String()):]
	number := m.first + len(m.mutants)
	m.mutants = append(m.mutants, mutant{number, m.name, position.Line, m.function, strings.TrimSpace(line), strings.TrimSpace(changed)})
	return number
}

func (m *mutator) offset(at token.Pos) int { return m.fset.Position(at).Offset }

// original returns the source of a node.
func (m *mutator) original(n ast.Node) string {
	return string(m.text[m.offset(n.Pos()):m.offset(n.End())])
}

// insert puts a text before a position, and behind what was put there already.
func (m *mutator) insert(at token.Pos, text string) {
	m.edits = append(m.edits, edit{m.offset(at), m.offset(at), text})
}

// apply returns the file with all edits.
func (m *mutator) apply() []byte {
	slices.SortStableFunc(m.edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var text []byte
	done := 0
	for _, e := range m.edits {
		text = append(append(text, m.text[done:e.from]...), e.text...)
		done = e.to
	}
	return append(text, m.text[done:]...)
}

// helper is the file that the others need.
func (p *source) helper() []byte {
	return []byte("package " + p.types.Name() + `

import (
	"os"
	"strconv"
)

var mutantNow, _ = strconv.Atoi(os.Getenv("` + variable + `"))

func mutantStep[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64](number int, x *T, by int) {
	if (by > 0) != (mutantNow == number) {
		*x++
	} else {
		*x--
	}
}
`)
}

// variable is the name of the environment's variable that says which mutant counts.
const variable = "MUTANT"
