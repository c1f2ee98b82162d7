// Package command implements "caddy robots-guard": commands that evaluate robots.txt files,
// identify User-Agents and check configurations.
//
// Each file has one command with its flags and its help. [Config] reads configurations and fetches
// URLs.
package command
