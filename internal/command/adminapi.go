package command

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/pflag"
)

// adminAPI is where the admin API of a running server listens, by the flags of a
// command.
type adminAPI struct{ address, config, adapter string }

// define defines the flags.
func (a *adminAPI) define(flags *pflag.FlagSet) {
	flags.StringVar(&a.address, "address", "", "the address of the admin API, if it is not the default")
	flags.StringVarP(&a.config, "config", "c", "", "a configuration file to take the address from")
	flags.StringVarP(&a.adapter, "adapter", "a", "", "the adapter of that file")
}

// find returns the address.
func (a *adminAPI) find() (string, error) {
	if err := checkConfig(a.config); err != nil {
		return "", err
	}
	return caddycmd.DetermineAdminAPIAddress(a.address, nil, a.config, a.adapter)
}
