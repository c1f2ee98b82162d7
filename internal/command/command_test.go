package command

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestMistakes checks the errors for wrong usage.
func TestMistakes(t *testing.T) {
	for name, args := range map[string][]string{
		"unknown command \"explan\"; did you mean explain?":                           {"explan"},
		"unknown command \"xyz\"; there are audit, diff":                              {"xyz"},
		"unknown flag: --robot; see caddy robots-guard explain --help":                {"explain", "--brief", "--robot", "x", "/"},
		"unknown flag: --xyz; see caddy robots-guard explain --help":                  {"explain", "--brief", "--xyz", "/"},
		"invalid argument \"yes\" for \"--json\" flag":                                {"status", "--json=yes"},
		"invalid argument \"x\" for \"--pages\" flag":                                 {"lint", "--pages", "x"},
		"--address \"localhost:99999\" is not an address, for example localhost:2019": {"status", "--address", "localhost:99999"},
		"takes at most 1 argument, not also \"b.test\"":                               {"status", "a.test", "b.test"},
		"no URL given":                           {"explain", "--brief", "--robots", "x"},
		"unknown identity \"x\"":                 {"explain", "--brief", "--robots", "x", "--user-agent", "x", "--identity", "x", "/"},
		"file Missing not found; --config takes": {"explain", "--config", "Missing", "--user-agent", "x", "/"},
	} {
		output, err := execute(t.Context(), configured(Site{}), args...)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v, want %q; %s", args, err, name, output)
		}
		if !strings.HasPrefix(output, "error: ") || strings.Count(output, "\n") != 1 {
			t.Errorf("%q prints %q, not one line that begins with error:", args, output)
		}
	}
}

// execute runs a command and returns the output.
func execute(ctx context.Context, config Config, args ...string) (output string, err error) {
	cmd := &cobra.Command{Use: "robots-guard"}
	New(config).CobraFunc(cmd)
	root := &cobra.Command{Use: "caddy", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(cmd)
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append([]string{"robots-guard"}, args...))
	err = root.ExecuteContext(ctx)
	return out.String(), err
}

// compactJSON returns JSON without white space.
func compactJSON(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return b.String()
}
