package caddymodule

import (
	"errors"
	"fmt"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "robots-guard",
		Usage: "<command>",
		Short: "Tells what a robots.txt means and who a User-Agent is",
		Long: `
The commands below judge by the same code as the robots_guard directive, so that
what they say is what the server does.
`,
		CobraFunc: func(cmd *cobra.Command) {
			// Cobra would show the help and exit with 0 for a command that does
			// not exist, and with exitDisallowed for such a flag.
			cmd.RunE = runCommand(func(cmd *cobra.Command, args []string) (int, error) {
				if len(args) > 0 {
					return 0, fmt.Errorf("unknown command %q; there are %s", args[0], subcommands(cmd))
				}
				return 0, cmd.Help()
			})
			cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
				return runCommand(func(*cobra.Command, []string) (int, error) { return 0, err })(cmd, nil)
			})
			cmd.AddCommand(checkCommand(), identifyCommand(), policiesCommand(), verifyCommand(), lintCommand(), explainCommand(),
				testCommand(), diffCommand(), auditCommand())
		},
	})
}

// subcommands lists the commands below cmd, for an error message.
func subcommands(cmd *cobra.Command) string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			names = append(names, c.Name())
		}
	}
	return strings.Join(names, ", ")
}

// Exit codes of the commands.
const (
	exitAllowed    = 0
	exitDisallowed = 1
	exitFailed     = 2
)

// errDisallowed makes the process exit with exitDisallowed. The output has said
// why.
var errDisallowed = errors.New("something is disallowed")

// runCommand adapts a function that returns an exit code to cobra. An error
// always ends in exitFailed.
func runCommand(run func(cmd *cobra.Command, args []string) (code int, err error)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		code, err := run(cmd, args)
		if err == nil && code == exitDisallowed {
			cmd.SilenceErrors = true
			return errDisallowed
		}
		return caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) {
			if err != nil {
				return exitFailed, err
			}
			return code, nil
		})(cmd, args)
	}
}
