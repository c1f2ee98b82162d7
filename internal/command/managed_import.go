package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/managed/rulelist"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// importRules prints rules that are made of a robots.txt, or of a robots.json.
func (m *checkingRules) importRules(cmd *cobra.Command, name string) error {
	in, err := m.config.readInput(cmd.Context(), cmd.InOrStdin(), name)
	if err != nil {
		return err
	}
	if in.missing {
		return fmt.Errorf("%s: there is no robots.txt; the answer is %d", in.name, in.status)
	}
	var made rulelist.Imported
	if whole := len(in.body) <= policy.MaxSize; rulelist.IsNames(in.body) {
		if !whole {
			return fmt.Errorf("%s: it has more than 500 KiB, of which no more is read; is this the robots.json of ai.robots.txt?", in.name)
		}
		made, err = rulelist.FromNames(uaident.Default(), in.body)
	} else {
		robots, wrong := in.rules()
		if wrong != nil {
			return wrong
		}
		if note := in.noteOn(robots); note != "" {
			return errors.New(note)
		}
		made, err = rulelist.FromRobots(uaident.Default(), robots)
		if !whole {
			made.Notes = append(made.Notes, "what follows the first 500 KiB is left out, as crawlers do not read it")
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", in.name, err)
	}
	for _, note := range made.Notes {
		fmt.Fprintln(cmd.ErrOrStderr(), text.Printable(in.name+": "+note))
	}
	if m.caddyfile {
		return rulelist.WriteCaddyfile(cmd.OutOrStdout(), &made)
	}
	for _, s := range made.Sitemaps {
		fmt.Fprintln(cmd.ErrOrStderr(), text.Printable(in.name+": a sitemap is no rule; write into the Caddyfile: sitemap "+s))
	}
	return rulelist.WriteJSON(cmd.OutOrStdout(), made.Rules)
}
