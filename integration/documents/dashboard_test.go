package documents

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/integration/harness/console"
)

// TestDashboardDocument runs the commands of docs/dashboard.md on the demo.
func TestDashboardDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/dashboard.md")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := example(t, "Caddyfile.example", "8080")
	ran := 0
	for _, step := range console.Steps(string(text)) {
		args, pattern, err := console.Words(step.Command)
		if err != nil || pattern != nil || args[0] != "curl" {
			t.Errorf("dashboard.md:%d: this test cannot parse %s: %v", step.Line, step.Command, err)
			continue
		}
		got, err := console.Curl(s.Port, args[1:])
		if err != nil {
			t.Errorf("dashboard.md:%d: %v", step.Line, err)
			continue
		}
		ran++
		if !console.Same(step.Output, strings.ReplaceAll(got, "\r\n", "\n")) {
			t.Errorf("dashboard.md:%d: $ %s\n--- documented\n%s\n--- got\n%s", step.Line, step.Command, step.Output, got)
		}
	}
	if ran == 0 {
		t.Error("dashboard.md contains no command that this test can run")
	}
}

// TestDashboardOfTheDemo checks that the demo serves the dashboard at the URL in the
// README, without a password, and only on the loopback interface.
func TestDashboardOfTheDemo(t *testing.T) {
	t.Parallel()
	s, _ := example(t, "Caddyfile.example", "8080")
	local := "http://localhost:" + s.Port
	harness.Eventually(t, "a crawler is blocked", func() bool { return harness.Get(t, local+"/", harness.GPTBot).Status == 403 })
	page := harness.Get(t, local+"/robots-guard/", harness.Firefox)
	if policy := page.Header.Get("Content-Security-Policy"); page.Status != 200 || !strings.Contains(page.Body, "<title>Robots Guard") || !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the page: %d %q %.200s", page.Status, policy, page.Body)
	}
	if a := harness.Get(t, local+"/robots-guard", harness.Firefox); a.Status != 308 || a.Header.Get("Location") != "./robots-guard/" {
		t.Errorf("without its slash: %d %q", a.Status, a.Header.Get("Location"))
	}
	if a := harness.Get(t, local+"/robots-guard/crawlers.csv", harness.Firefox); !strings.Contains(a.Body, "\nGPTBot,GPTBot,OpenAI,ai_training,") {
		t.Errorf("the blocked crawler is not in the list: %s", a.Body)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		ip, ok := address.(*net.IPNet)
		if !ok || ip.IP.IsLoopback() || ip.IP.To4() == nil {
			continue
		}
		if conn, err := net.Dial("tcp", net.JoinHostPort(ip.IP.String(), s.Port)); err == nil {
			_ = conn.Close()
			t.Errorf("the demo is reachable at %s", ip.IP)
		}
	}
}
