// Package command implements "caddy robots-guard": commands that evaluate robots.txt files,
// identify User-Agents and check configurations.
//
// Each command has a file with its flags and its help. Some commands have further files, such as
// explain_batch.go. [Config] gives the commands access to configuration files.
package command
