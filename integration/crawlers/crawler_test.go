package crawlers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// crawler is a real crawler, or a library with a small program that uses it.
type crawler struct {
	name string
	// token is the default name of the crawler in robots.txt.
	token string
	// crawl follows every link from the start URLs. Without userAgent it sends its
	// default User-Agent.
	crawl func(t *testing.T, starts []string, obey bool, userAgent string)
}

// botUserAgent is the alternative User-Agent of every crawler.
const botUserAgent = "DotBot/1.2 (+https://opensiteexplorer.org/dotbot; help@moz.com)"

var crawlers = []crawler{
	{name: "Scrapy", token: "Scrapy", crawl: func(t *testing.T, starts []string, obey bool, userAgent string) {
		command(t, starts, "scrapy", "python3-scrapy", func(list string) []string {
			arguments := []string{"runspider", "spider.py", "-a", "starts=" + list, "-s", fmt.Sprintf("ROBOTSTXT_OBEY=%t", obey)}
			if userAgent != "" {
				arguments = append(arguments, "-s", "USER_AGENT="+userAgent)
			}
			return arguments
		})
	}},
	{name: "wget", token: "Wget", crawl: func(t *testing.T, starts []string, obey bool, userAgent string) {
		command(t, starts, "wget", "wget", func(list string) []string {
			arguments := []string{"--no-config", "--recursive", "--level=2", "--no-directories", "--delete-after", "--quiet", "--tries=1", "--input-file=" + list}
			if !obey {
				arguments = append(arguments, "--execute=robots=off")
			}
			return withOption(arguments, "--user-agent=", userAgent)
		})
	}},
	{name: "wget2", token: "wget2", crawl: func(t *testing.T, starts []string, obey bool, userAgent string) {
		command(t, starts, "wget2", "wget2", func(list string) []string {
			arguments := []string{"--no-config", "--recursive", "--level=2", "--no-directories", "--delete-after", "--quiet", "--tries=1", "--max-threads=4", "--input-file=" + list}
			if !obey {
				arguments = append(arguments, "--robots=off")
			}
			return withOption(arguments, "--user-agent=", userAgent)
		})
	}},
	{name: "colly", token: "colly", crawl: func(t *testing.T, starts []string, obey bool, userAgent string) {
		if err := crawlByColly(starts, obey, userAgent); err != nil {
			t.Error(err)
		}
	}},
	{name: "gocrawl", token: "gocrawl", crawl: func(t *testing.T, starts []string, obey bool, userAgent string) {
		if err := crawlByGocrawl(starts, obey, userAgent, botName); err != nil {
			t.Error(err)
		}
	}},
	{name: "crawlee", token: "crawlee", crawl: func(t *testing.T, starts []string, obey bool, userAgent string) {
		needModule(t, "@crawlee/cheerio")
		command(t, starts, "node", "nodejs", func(list string) []string {
			arguments := with([]string{"crawlee.mjs", list, mode(obey)}, userAgent)
			if userAgent != "" {
				arguments = append(arguments, botName)
			}
			return arguments
		})
	}},
	{name: "simplecrawler", token: "Node", crawl: func(t *testing.T, starts []string, obey bool, userAgent string) {
		needModule(t, "simplecrawler")
		command(t, starts, "node", "nodejs", func(list string) []string {
			return with([]string{"simplecrawler.mjs", list, mode(obey)}, userAgent)
		})
	}},
	{name: "HTTrack", token: "HTTrack", crawl: func(t *testing.T, starts []string, obey bool, userAgent string) {
		command(t, starts, "httrack", "httrack", func(list string) []string {
			robots := "--robots=0"
			if obey {
				robots = "--robots=2"
			}
			arguments := []string{"--quiet", "--path", filepath.Dir(list), "--list", list, "--depth=2", robots,
				"--disable-security-limits", "--max-rate=0", "--connection-per-second=0", "--sockets=4", "--retries=0", "--cache=0", "--do-not-log"}
			if userAgent != "" {
				arguments = append(arguments, "--user-agent", userAgent)
			}
			return arguments
		})
	}},
}

func mode(obey bool) string {
	if obey {
		return "obey"
	}
	return "ignore"
}

// with appends an argument unless it is empty.
func with(arguments []string, argument string) []string { return withOption(arguments, "", argument) }

func withOption(arguments []string, option, value string) []string {
	if value == "" {
		return arguments
	}
	return append(arguments, option+value)
}

// command runs a crawler that is a separate program. Its arguments may name a file with
// the start URLs. The exit status is ignored, because many crawlers report a blocked
// page as a failure.
func command(t *testing.T, starts []string, program, debian string, arguments func(list string) []string) {
	t.Helper()
	path := harness.Program(t, program, debian, gate)
	dir := t.TempDir()
	list := filepath.Join(dir, "starts")
	if err := os.WriteFile(list, []byte(strings.Join(starts, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, arguments(list)...)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if cmd.Dir = dir; program == "scrapy" || program == "node" {
		cmd.Dir = here
	}
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	output, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Errorf("%s did not exit within %v:\n%.4000s", program, patience, output)
	}
	if err != nil {
		t.Logf("%s: %v", program, err)
		if len(output) > 0 {
			t.Logf("%.4000s", output)
		}
	}
}

func needModule(t *testing.T, module string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join("node_modules", filepath.FromSlash(module))); err != nil {
		harness.Missing(t, module+", of npm (npm install in this folder)", gate)
	}
}

// run is a crawl of all sites by a crawler in one mode under one name.
type run struct {
	crawler
	number    int // starts at 1
	obey      bool
	userAgent string // "" for the default
}

// allRuns returns each crawler in each mode under each name.
func allRuns() []run {
	var runs []run
	for _, c := range crawlers {
		for _, obey := range []bool{true, false} {
			for _, userAgent := range []string{"", botUserAgent} {
				runs = append(runs, run{crawler: c, number: len(runs) + 1, obey: obey, userAgent: userAgent})
			}
		}
	}
	return runs
}

// as returns the name of the crawler in robots.txt in this run.
func (r run) as() string {
	if r.userAgent != "" {
		return botName
	}
	return r.token
}

func (r run) String() string {
	return fmt.Sprintf("%s as %s, %s", r.name, r.as(), map[bool]string{true: "obeying", false: "ignoring"}[r.obey])
}

// crawls reports whether a run crawls the given site behind the given origin. A crawler
// that ignores robots.txt requests the same URLs at every site, so half of the sites
// are enough. It crawls the other half under its other name.
func (r run) crawls(variant, origin int) bool {
	return r.obey || (variant+origin)%2 == map[bool]int{true: 1}[r.userAgent != ""]
}

// host returns a separate loopback address for each run, variant and origin.
func host(r run, variant int, origin int) string {
	return fmt.Sprintf("127.%d.%d.%d", r.number, variant+1, origin+1)
}
