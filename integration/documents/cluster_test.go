package documents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/integration/harness/console"
)

// TestExampleCluster runs three instances and a load balancer as the README of the
// example describes.
func TestExampleCluster(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	ports := map[string]string{"8080": harness.FreePort(t)}
	homes := make(map[string]string)
	for _, port := range []string{"8081", "8082", "8083"} {
		ports[port], homes[port] = harness.FreePort(t), t.TempDir()
	}
	instance := func(port string) *harness.Server {
		env := []string{"PORT=" + ports[port], "SHARED=" + shared, "XDG_DATA_HOME=" + homes[port]}
		s := harness.Run(t, "../../examples/cluster/Caddyfile", env, "127.0.0.1:"+ports[port])
		s.Port = ports[port]
		return s
	}
	var instances []*harness.Server
	for _, port := range []string{"8081", "8082", "8083"} {
		instances = append(instances, instance(port))
	}
	text, err := os.ReadFile("../../examples/cluster/balancer.Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	config := string(text)
	for port, free := range ports {
		if !strings.Contains(config, "localhost:"+port) {
			t.Errorf("the load balancer does not use port %s", port)
		}
		config = strings.ReplaceAll(config, "localhost:"+port, "localhost:"+free)
	}
	balancer := harness.Start(t, config, "127.0.0.1:"+ports["8080"])
	balancer.Port = ports["8080"]

	// A reader of the README also waits between the start and the first request.
	local := "http://localhost:" + ports["8080"]
	inARow := 0
	harness.Eventually(t, "all instances have read the robots.txt", func() bool {
		if inARow++; harness.Get(t, local+"/", harness.GPTBot).Status != 403 {
			inARow = 0
		}
		return inARow >= 2*len(instances)
	})
	readme, err := os.ReadFile("../../examples/cluster/README.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, step := range console.Steps(string(readme)) {
		args, _, err := console.Words(strings.TrimSuffix(step.Command, "&"))
		if err != nil {
			t.Fatalf("line %d: %v", step.Line, err)
		}
		if args[0] != "curl" {
			continue
		}
		ran++
		if got, err := console.Curl(balancer.Port, args[1:]); err != nil || !console.Same(step.Output, got) {
			t.Errorf("line %d: $ %s\n--- documented\n%s\n--- got\n%s\n%v", step.Line, step.Command, step.Output, got, err)
		}
	}
	if ran == 0 {
		t.Error("the README contains no command that this test can run")
	}

	// An instance that restarts after a crash does not need to fetch robots.txt.
	harness.Eventually(t, "all have stored their policies", func() bool { return len(harness.Stored(t, shared, "policies")) >= len(instances) })
	instances[2].Kill()
	again := instance("8083")
	again.Await("policies restored from the storage", 1)
	front := "localhost:" + ports["8080"] // the host that the load balancer forwards
	if a := harness.Get(t, "http://127.0.0.1:"+again.Port+"/", harness.GPTBot, harness.Host(front), harness.Header("X-Forwarded-Host", front)); a.Status != 403 {
		t.Errorf("after a restart: got %d", a.Status)
	}
	m := harness.ReadMetrics(t, "http://localhost:"+again.Port+"/metrics")
	if n := m.Sum(harness.FetchesMetric); n != 0 {
		t.Errorf("robots.txt was fetched %v times", n)
	}
	if n := m.Sum("caddy_robots_guard_storage_reads_total", `result="good"`, `kind="policies"`); n < 3 {
		t.Errorf("%v policies were loaded from the storage, want those of three instances", n)
	}
	dirs, err := os.ReadDir(filepath.Join(shared, "robots_guard", "v1"))
	if err != nil || len(dirs) != len(instances) {
		t.Errorf("%d instances have stored data, want %d; %v", len(dirs), len(instances), err)
	}
}
