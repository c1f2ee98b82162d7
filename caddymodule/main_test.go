package caddymodule

import (
	"fmt"
	"os"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
)

// TestMain stores the data of tests outside the home directory of the user.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "caddymodule")
	if err == nil {
		err = os.Setenv("XDG_DATA_HOME", dir) // for the instance ID
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	caddy.DefaultStorage = &certmagic.FileStorage{Path: dir}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
