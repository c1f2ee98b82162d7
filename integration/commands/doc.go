// Package commands tests the commands that work without a running server.
package commands
