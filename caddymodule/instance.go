package caddymodule

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
)

// temporaryID is the ID of a process without a lasting one.
var temporaryID = sync.OnceValue(rand.Text)

// loadInstanceID returns the ID of this Caddy instance from the data directory, or a temporary ID.
// With a temporary ID, a restart still finds the stored data, but their keys in the storage stay
// for a month.
func loadInstanceID(logger *zap.Logger) string {
	// At the very first start Caddy itself may be about to write the file.
	const maxAttempts = 10
	for attempt := 1; ; attempt++ {
		id, err := caddy.InstanceID()
		if err == nil {
			return id.String()
		}
		if attempt == maxAttempts {
			logger.Warn("this Caddy instance has no ID, so a temporary ID names its data in the storage; "+
				"make instance.uuid in the data directory writable, or remove the file if damaged",
				zap.String("directory", caddy.AppDataDir()), zap.Error(err))
			return temporaryID()
		}
		time.Sleep(20 * time.Millisecond)
	}
}
