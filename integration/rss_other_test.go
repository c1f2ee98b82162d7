//go:build !linux

package integration

import "os"

func maxRSS(*os.ProcessState) (bytes int64, ok bool) { return 0, false }
