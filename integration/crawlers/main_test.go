package crawlers

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

var dump = flag.String("dump", "", "write all requests and what became of them to this file")

// patience is how long a crawl may take.
const patience = 3 * time.Minute

// gate is set in the gate, which installs all crawlers.
const gate = "CI"

// long is set for the nightly round, which crawls all robots.txt files.
var long = os.Getenv("LONG_TESTS") != ""

func TestMain(m *testing.M) { harness.Main(m) }
