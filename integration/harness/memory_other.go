//go:build !linux

package harness

import "os"

// MaxRSS returns the peak resident memory of an exited process in bytes. This system
// does not report it.
func MaxRSS(*os.ProcessState) (bytes int64, ok bool) { return 0, false }
