package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// helpCommand returns the command that shows the help of another command. Cobra has such a command
// for the root only.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "help [<command>]",
		Short:  "Shows the help of a command",
		Hidden: true, // hides the command in the list, which ends with advice about help
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range cmd.Parent().Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: runCommand(func(cmd *cobra.Command, args []string) (bool, error) {
			about := cmd.Parent()
			if len(args) > 0 {
				found, _, err := about.Find(args[:1])
				if err != nil || found == about {
					return false, unknownCommand(about, args[0])
				}
				about = found
			}
			return false, about.Help()
		}),
	}
}

// printHelp prints the help of a command, beginning with its purpose and examples.
func printHelp(w io.Writer, cmd *cobra.Command) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\n", cmd.Short)
	if cmd.Example != "" {
		fmt.Fprintf(&b, "Examples:\n%s\n", indent(cmd.Example))
	}
	fmt.Fprintf(&b, "Usage:\n%s\n", indent(strings.TrimSuffix(cmd.UseLine(), " [flags]")))
	if long := strings.TrimSpace(cmd.Long); long != "" {
		b.WriteString(long + "\n\n")
	}
	for _, group := range cmd.Groups() {
		fmt.Fprintf(&b, "%s:\n", group.Title)
		for _, c := range cmd.Commands() {
			if c.GroupID == group.ID {
				fmt.Fprintf(&b, "  %-10s %s\n", c.Name(), c.Short)
			}
		}
		b.WriteByte('\n')
	}
	if cmd.HasSubCommands() {
		fmt.Fprintf(&b, "More about one: %s help <command>\n", cmd.CommandPath())
	} else if cmd.HasAvailableLocalFlags() {
		fmt.Fprintf(&b, "Options:\n%s", cmd.LocalFlags().FlagUsagesWrapped(screenOf(w).Width()))
	}
	_, _ = io.WriteString(w, b.String()) // long lines are not wrapped, because people copy commands
}

// indent indents each line.
func indent(lines string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n  ") + "\n"
}
