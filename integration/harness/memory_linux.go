package harness

import (
	"os"
	"syscall"
)

// MaxRSS returns the peak resident memory of an exited process in bytes.
func MaxRSS(state *os.ProcessState) (bytes int64, ok bool) {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	return int64(usage.Maxrss) << 10, true
}
