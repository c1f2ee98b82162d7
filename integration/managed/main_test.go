// Package managed tests the directive robots_txt from outside.
package managed

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
