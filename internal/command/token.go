package command

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// checkTokenFlag returns an error if --token is not a product token. Without this check, the token
// would be judged as a crawler that no group names.
func checkTokenFlag(cmd *cobra.Command, token string) error {
	switch {
	case !cmd.Flags().Changed("token") || uaident.Default().Lookup(token) != nil:
		return nil
	case token == "":
		return errors.New("--token is empty; leave it out to judge by the * group")
	case !strings.ContainsAny(token, "/,;()"):
		return nil
	}
	who := uaident.Identify(token)
	suggestion := cmp.Or(who.Token, "a token such as GPTBot")
	if who.Crawler != nil {
		suggestion = who.Crawler.Token
	}
	return fmt.Errorf("--token %q is not a product token; write %s, or use --user-agent with the whole User-Agent", token, suggestion)
}
