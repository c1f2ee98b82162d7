package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

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
		fmt.Fprintf(&b, "More about one: %s <command> --help\n", cmd.CommandPath())
	} else if cmd.HasAvailableLocalFlags() {
		fmt.Fprintf(&b, "Options:\n%s", cmd.LocalFlags().FlagUsagesWrapped(newScreen(w).Width()))
	}
	_, _ = io.WriteString(w, b.String()) // Long lines are not wrapped, because people copy commands.
}

// indent indents each line by two spaces.
func indent(lines string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n  ") + "\n"
}
