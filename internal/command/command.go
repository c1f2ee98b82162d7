package command

import (
	"errors"
	"fmt"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

// New returns the command robots-guard for registration with Caddy. The commands read configuration
// files by the functions of config.
func New(config Config) caddycmd.Command {
	return caddycmd.Command{
		Name:  "robots-guard",
		Usage: "<command>",
		Short: "Evaluates robots.txt files, identifies crawlers, and shows what a server does",
		Long: `
The commands use the same code as the robots_guard directive. Each prints JSON with --json.

Exit status of all commands: 0 if all is well, 1 if the output has findings, such as a
disallowed URL or an open critical alert, 2 if an argument or an input is wrong.
`,
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Example = `
caddy robots-guard lint robots.txt
caddy robots-guard explain --token Googlebot https://example.com/private/report
caddy robots-guard audit --site example.com "/var/log/caddy/access.log*"
caddy robots-guard status
`
			// Cobra would show the help and exit with 0 for a command that does
			// not exist, and with ExitFindings for such a flag.
			cmd.RunE = wrapRun(func(cmd *cobra.Command, args []string) (bool, error) {
				if len(args) > 0 {
					return false, unknownCommandError(cmd, args[0])
				}
				return false, cmd.Help()
			})
			cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
				return reportError(cmd, fmt.Errorf("%w; see %s --help", err, cmd.CommandPath()))
			})
			// Cobra checks groups of flags after this, and would exit with ExitFindings.
			cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
				if err := cmd.ValidateFlagGroups(); err != nil {
					return reportError(cmd, describeFlagGroupError(err))
				}
				return nil
			}
			cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { printHelp(cmd.OutOrStdout(), cmd) })
			for _, g := range []struct {
				title    string
				commands []*cobra.Command
			}{
				{"Write a robots.txt", []*cobra.Command{lintCommand(config), testCommand(config), diffCommand(config), managedCommand(config)}},
				{"Ask why", []*cobra.Command{explainCommand(config), identifyCommand(config), registryCommand()}},
				{"Look at what happened", []*cobra.Command{statusCommand(), auditCommand(config)}},
			} {
				cmd.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
				for _, c := range g.commands {
					c.GroupID = g.title
					cmd.AddCommand(c)
				}
			}
		},
	}
}

// unknownCommandError returns the error for a subcommand that cmd does not have. The error lists
// similar subcommands or, without any, all subcommands.
func unknownCommandError(cmd *cobra.Command, name string) error {
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		return fmt.Errorf("unknown command %q; did you mean %s?", name, strings.Join(near, " or "))
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q; there are %s", name, strings.Join(names, ", "))
}

// These are the exit statuses of the commands.
const (
	ExitOK       = 0
	ExitFindings = 1 // The output requires an action.
	ExitFailed   = 2 // The usage or the input is wrong, or no server runs.
)

// ErrFindings makes the process exit with ExitFindings. The command has printed the findings.
var ErrFindings = errors.New("there are findings")

// wrapRun converts run to a function for [cobra.Command.RunE]. If run returns an error, the
// returned function prints the error, and the process exits with ExitFailed. If findings is true,
// the process exits with ExitFindings.
func wrapRun(run func(cmd *cobra.Command, args []string) (findings bool, err error)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cmd.SilenceErrors = true
		printWarnings := bufferWarnings(cmd.ErrOrStderr())
		findings, err := run(cmd, args)
		printWarnings()
		switch {
		case err != nil:
			return reportError(cmd, err)
		case findings:
			return ErrFindings
		}
		return nil
	}
}

// reportError prints err, and returns an error that makes the process exit with ExitFailed.
func reportError(cmd *cobra.Command, err error) error {
	cmd.SilenceErrors = true
	printError(cmd.ErrOrStderr(), err)
	exit := caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) { return ExitFailed, nil })
	return &printedError{err, exit(cmd, nil)}
}

// printedError is an error that a command has printed. It wraps that error and the error that makes
// Caddy exit with ExitFailed.
type printedError struct{ shown, exitStatus error }

func (f *printedError) Error() string { return f.shown.Error() }

func (f *printedError) Unwrap() []error { return []error{f.shown, f.exitStatus} }

// maxArgs returns a check that a command has at most n arguments. Unlike [cobra.MaximumNArgs], the
// check prints its error like all other errors of the commands.
func maxArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		return reportError(cmd, fmt.Errorf("%s takes at most %d argument, not also %q; see %s --help", cmd.Name(), n, args[n], cmd.CommandPath()))
	}
}

// completeValues makes the shell complete the value of a flag with the given words.
func completeValues(cmd *cobra.Command, flag string, words ...string) {
	// RegisterFlagCompletionFunc fails only for an unknown flag.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}
