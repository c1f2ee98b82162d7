package caddymodule

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/command"
)

// runRobotsGuard runs a command of caddy robots-guard and returns the output and the exit status.
func runRobotsGuard(t *testing.T, input string, args ...string) (output string, code int) {
	t.Helper()
	output, err := executeRobotsGuard(t, input, args...)
	switch {
	case errors.Is(err, command.ErrFindings):
		code = command.ExitFindings
	case err != nil:
		t.Logf("%v: %v", args, err)
		code = command.ExitFailed
	}
	return output, code
}

// executeRobotsGuard runs a command of caddy robots-guard and returns the output.
func executeRobotsGuard(t *testing.T, input string, args ...string) (output string, err error) {
	t.Helper()
	root := &cobra.Command{Use: "robots-guard", SilenceUsage: true, SilenceErrors: true}
	registered := caddycmd.Commands()["robots-guard"]
	registered.CobraFunc(root)
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetIn(strings.NewReader(input))
	root.SetArgs(args)
	err = root.ExecuteContext(t.Context())
	return out.String(), err
}

func decodeJSON(t *testing.T, text string, value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), value); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
}
