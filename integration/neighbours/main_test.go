package neighbours

import (
	"os"
	"strings"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/robotsguard/caddy-robots-guard"
	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestMain also runs the server with the substitutes of this package, so that only one
// binary has to be linked.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		caddycmd.Main()
		return
	}
	harness.Suite{Self: true}.Main(m)
}
