package caddymodule

import (
	"reflect"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/parser"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// newCELLibrary returns the CEL function of a matcher, with any number of string arguments. It
// exists because caddyhttp.CELMatcherImpl does not support functions without arguments.
func newCELLibrary(name string, make func([]string) (caddyhttp.RequestMatcherWithError, error)) (cel.Library, error) {
	function := name + "_request_list"
	factory := func(data ref.Val) (caddyhttp.RequestMatcherWithError, error) {
		words, err := data.ConvertToNative(reflect.TypeFor[[]string]())
		if err != nil {
			return nil, err
		}
		return make(words.([]string))
	}
	expand := func(eh parser.ExprHelper, _ ast.Expr, args []ast.Expr) (ast.Expr, *common.Error) {
		for _, arg := range args {
			if arg.Kind() != ast.LiteralKind || arg.AsLiteral().Type() != types.StringType {
				return nil, eh.NewError(arg.ID(), name+" takes string constants")
			}
		}
		return eh.NewCall(function, eh.NewIdent(caddyhttp.CELRequestVarName), eh.NewList(args...)), nil
	}
	return caddyhttp.NewMatcherCELLibrary(
		[]cel.EnvOption{
			cel.Macros(parser.NewGlobalVarArgMacro(name, expand)),
			cel.Function(function,
				cel.Overload(function, []*cel.Type{cel.ObjectType("http.Request"), cel.ListType(cel.StringType)}, cel.BoolType),
				cel.SingletonBinaryBinding(caddyhttp.CELMatcherRuntimeFunction(function, factory))),
		},
		[]cel.ProgramOption{cel.CustomDecorator(caddyhttp.CELMatcherDecorator(function, factory))},
	), nil
}
