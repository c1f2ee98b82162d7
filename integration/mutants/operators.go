package main

import "go/token"

// others are the operators that take the place of another.
var others = map[token.Token][]token.Token{
	token.LSS:  {token.LEQ, token.GEQ},
	token.LEQ:  {token.LSS, token.GTR},
	token.GTR:  {token.GEQ, token.LEQ},
	token.GEQ:  {token.GTR, token.LSS},
	token.EQL:  {token.NEQ},
	token.NEQ:  {token.EQL},
	token.LAND: {token.LOR},
	token.LOR:  {token.LAND},
	token.ADD:  {token.SUB},
	token.SUB:  {token.ADD},
	token.MUL:  {token.QUO},
	token.QUO:  {token.MUL},
	token.REM:  {token.MUL},
	token.INC:  {token.DEC},
	token.DEC:  {token.INC},
}

// A mutant is one change of a source.
type mutant struct {
	number        int // in the environment
	file          string
	line          int
	function      string
	before, after string // the line, trimmed
}

// String shows a mutant as explanations do.
func (m mutant) String() string {
	return m.place() + "\n\t- " + m.before + "\n\t+ " + m.after
}
