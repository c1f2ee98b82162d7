// Package command is "caddy robots-guard": what a robots.txt means, who a
// User-Agent is, and what a configuration makes of both, on the command line.
//
// A file is a command, with its flags, its help and what it does. What a
// configuration says, and how a URL is read, is handed in by [Config].
package command
