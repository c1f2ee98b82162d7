package forward

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
