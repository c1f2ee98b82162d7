package integration

import (
	"net"
	"os"
	"strings"
	"testing"
)

// TestDashboardDocument runs the commands of docs/dashboard.md on the demo.
func TestDashboardDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/dashboard.md")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := example(t, "Caddyfile.example", "8080")
	ran := 0
	for _, step := range consoleSteps(string(text)) {
		args, pattern, err := shellWords(step.command)
		if err != nil || pattern != nil || args[0] != "curl" {
			t.Errorf("dashboard.md:%d: %s is not understood by this test: %v", step.line, step.command, err)
			continue
		}
		got, err := curlOutput(s, args[1:])
		if err != nil {
			t.Errorf("dashboard.md:%d: %v", step.line, err)
			continue
		}
		ran++
		if !sameOutput(step.output, strings.ReplaceAll(got, "\r\n", "\n")) {
			t.Errorf("dashboard.md:%d: $ %s\n--- it shows\n%s\n--- it is\n%s", step.line, step.command, step.output, got)
		}
	}
	if ran == 0 {
		t.Error("dashboard.md shows no command that can be run")
	}
}

// The demo has the page where the README says, without a password, for nobody
// but this machine.
func TestDashboardOfTheDemo(t *testing.T) {
	s, _ := example(t, "Caddyfile.example", "8080")
	local := "http://localhost:" + s.port
	eventually(t, "a crawler is blocked", func() bool { return get(t, local+"/", gptBot).status == 403 })
	page := get(t, local+"/robots-guard/", firefox)
	if policy := page.header.Get("Content-Security-Policy"); page.status != 200 || !strings.Contains(page.body, "<title>Robots Guard") || !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the page: %d %q %.200s", page.status, policy, page.body)
	}
	if a := get(t, local+"/robots-guard", firefox); a.status != 308 || a.header.Get("Location") != "./robots-guard/" {
		t.Errorf("without its slash: %d %q", a.status, a.header.Get("Location"))
	}
	if a := get(t, local+"/robots-guard/crawlers.csv", firefox); !strings.Contains(a.body, "\nGPTBot,GPTBot,OpenAI,ai_training,") {
		t.Errorf("the crawler that was blocked is not in the list: %s", a.body)
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
		if conn, err := net.Dial("tcp", net.JoinHostPort(ip.IP.String(), s.port)); err == nil {
			_ = conn.Close()
			t.Errorf("the demo can be reached at %s", ip.IP)
		}
	}
}
