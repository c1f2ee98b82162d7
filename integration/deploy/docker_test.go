package deploy

import (
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// lint parses a Dockerfile and returns the warnings of Docker's build checks.
func lint(text string) (warnings []string, err error) {
	result, err := parser.Parse(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	for _, w := range result.Warnings {
		warnings = append(warnings, w.Short)
	}
	rules := linter.New(&linter.Config{Warn: func(rule, _, _, message string, _ []parser.Range) {
		warnings = append(warnings, rule+": "+message)
	}})
	_, _, err = instructions.Parse(result.AST, rules)
	return warnings, err
}

func TestDockerfiles(t *testing.T) {
	for _, name := range []string{"Dockerfile", "Dockerfile.scratch"} {
		text := file(t, name)
		if warnings, err := lint(text); err != nil || len(warnings) > 0 {
			t.Errorf("%s: %v %v", name, err, warnings)
		}
		if _, err := lint(broken(t, text, "WORKDIR", "WORKDIRS")); err == nil {
			t.Errorf("%s: no error for an unknown instruction", name)
		}
		if warnings, _ := lint(broken(t, text, " AS build", " as build")); len(warnings) == 0 {
			t.Errorf("%s: no warning for a mistake", name)
		}
	}
}
