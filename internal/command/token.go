package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// checkTokenFlag tells what is no product token behind --token: it would be judged as a
// crawler that no group names.
func checkTokenFlag(cmd *cobra.Command, token string) error {
	at := strings.IndexAny(token, "/,;()")
	switch {
	case !cmd.Flags().Changed("token") || uaident.Default().Lookup(token) != nil:
		return nil
	case token == "":
		return errors.New("--token is empty; leave it out to judge by the * group")
	case at < 0:
		return nil
	}
	meant := strings.TrimSpace(token[:at])
	if c := uaident.Identify(token).Crawler; c != nil {
		meant = c.Token
	}
	if meant == "" {
		meant = "one such as GPTBot"
	}
	return fmt.Errorf("--token %q is more than a product token; write %s, or the whole User-Agent behind --user-agent", token, meant)
}
