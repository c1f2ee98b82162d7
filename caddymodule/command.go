package caddymodule

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	"github.com/robotsguard/caddy-robots-guard/internal/command"
)

func init() {
	caddycmd.RegisterCommand(command.New(command.Config{
		FetchTimeout: defaultFetchTimeout,
		Sites:        configuredSites,
		Verification: configuredVerification,
		Rules:        configuredRules,
	}))
}
