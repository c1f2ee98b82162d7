package caddymodule

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// TestInstanceID keeps an ID, waits for one that is being written, and does
// without where it is damaged.
func TestInstanceID(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	core, logs := observer.New(zap.WarnLevel)
	logger := zap.New(core)
	id := loadInstanceID(logger)
	if id == "" || loadInstanceID(logger) != id {
		t.Fatalf("the ID %q does not last", id)
	}
	file := filepath.Join(caddy.AppDataDir(), "instance.uuid")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	write("")
	time.AfterFunc(30*time.Millisecond, func() { write(id) })
	if got := loadInstanceID(logger); got != id || logs.Len() != 0 {
		t.Errorf("got %q while it was being written, want %q", got, id)
	}
	write("damaged")
	temporary := loadInstanceID(logger)
	if temporary == "" || temporary != loadInstanceID(logger) || logs.Len() != 2 {
		t.Errorf("got %q, and %d warnings", temporary, logs.Len())
	}
	if strings.Contains(temporary, "/") {
		t.Errorf("%q cannot be part of a key", temporary)
	}
}
