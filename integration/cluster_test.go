package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExampleCluster runs three instances and a load balancer as the example's
// README shows them.
func TestExampleCluster(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	ports := map[string]string{"8080": freePort(t)}
	homes := make(map[string]string)
	for _, port := range []string{"8081", "8082", "8083"} {
		ports[port], homes[port] = freePort(t), t.TempDir()
	}
	instance := func(port string) *server {
		env := []string{"PORT=" + ports[port], "SHARED=" + shared, "XDG_DATA_HOME=" + homes[port]}
		s := run(t, "../examples/cluster/Caddyfile", env, "127.0.0.1:"+ports[port])
		s.port = ports[port]
		return s
	}
	var instances []*server
	for _, port := range []string{"8081", "8082", "8083"} {
		instances = append(instances, instance(port))
	}
	text, err := os.ReadFile("../examples/cluster/balancer.Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	config := string(text)
	for port, free := range ports {
		if !strings.Contains(config, "localhost:"+port) {
			t.Errorf("the load balancer does not know port %s", port)
		}
		config = strings.ReplaceAll(config, "localhost:"+port, "localhost:"+free)
	}
	balancer := start(t, config, "127.0.0.1:"+ports["8080"])
	balancer.port = ports["8080"]

	// The README's reader needs some time between starting and the first request.
	local := "http://localhost:" + ports["8080"]
	inARow := 0
	eventually(t, "all instances have read the robots.txt", func() bool {
		if inARow++; get(t, local+"/", gptBot).status != 403 {
			inARow = 0
		}
		return inARow >= 2*len(instances)
	})
	readme, err := os.ReadFile("../examples/cluster/README.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, step := range consoleSteps(string(readme)) {
		args, _, err := shellWords(strings.TrimSuffix(step.command, "&"))
		if err != nil {
			t.Fatalf("line %d: %v", step.line, err)
		}
		if args[0] != "curl" {
			continue
		}
		ran++
		if got, err := curlOutput(balancer, args[1:]); err != nil || !sameOutput(step.output, got) {
			t.Errorf("line %d: $ %s\n--- it shows\n%s\n--- it is\n%s\n%v", step.line, step.command, step.output, got, err)
		}
	}
	if ran == 0 {
		t.Error("the README shows nothing that can be run")
	}

	// One of them is killed and comes back: it need not ask the site.
	awaitStored(t, shared, len(instances))
	instances[2].kill()
	again := instance("8083")
	again.await("policies restored from the storage", 1)
	front := "localhost:" + ports["8080"] // as the load balancer passes it on
	if a := get(t, "http://127.0.0.1:"+again.port+"/", gptBot, hostOf(front), header("X-Forwarded-Host", front)); a.status != 403 {
		t.Errorf("after a restart: got %d", a.status)
	}
	m := readMetrics(t, "http://localhost:"+again.port+"/metrics")
	if n := m.sum(fetchesMetric); n != 0 {
		t.Errorf("the robots.txt was read %v times", n)
	}
	if n := m.sum("caddy_robots_guard_storage_reads_total", `result="good"`, `kind="policies"`); n < 3 {
		t.Errorf("%v policies were read from the storage, want those of three instances", n)
	}
	dirs, err := os.ReadDir(filepath.Join(shared, "robots_guard", "v1"))
	if err != nil || len(dirs) != len(instances) {
		t.Errorf("%d instances have stored something, want %d; %v", len(dirs), len(instances), err)
	}
}
