// Package commands tests the commands that need no server.
package commands
