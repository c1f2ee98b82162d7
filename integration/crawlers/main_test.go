package crawlers

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

var dump = flag.String("dump", "", "write all requests and what became of them to this file")

// patience is the time limit of a crawl.
const patience = 3 * time.Minute

// gate is the environment variable that CI sets, where all crawlers are installed.
const gate = "CI"

// long is set in nightly runs, which crawl all robots.txt files.
var long = os.Getenv("LONG_TESTS") != ""

func TestMain(m *testing.M) { harness.Main(m) }
