//go:build !linux

package harness

import "os"

// MaxRSS returns the most memory that an ended process had, in bytes.
func MaxRSS(*os.ProcessState) (bytes int64, ok bool) { return 0, false }
