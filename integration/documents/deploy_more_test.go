package documents

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestDockerfileScratch checks that the image has the same build stage as Dockerfile,
// and that it runs as an unprivileged user without a shell.
func TestDockerfileScratch(t *testing.T) {
	text := deployed(t, "Dockerfile.scratch")
	build := regexp.MustCompile(`(?m)^(FROM golang:\S+|RUN go build .*)`)
	if got, want := build.FindAllString(text, -1), build.FindAllString(deployed(t, "Dockerfile"), -1); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("Dockerfile.scratch builds with %q, Dockerfile with %q", got, want)
	}
	_, last, _ := strings.Cut(text, "\nFROM scratch\n")
	for _, line := range []string{"ENV CGO_ENABLED=0", "COPY --from=build /src/caddy /usr/bin/caddy", "USER 65532:65532"} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("the image lacks %s", line)
		}
	}
	if strings.Contains(last, "RUN") {
		t.Error("RUN needs a shell, which the image lacks")
	}
}

// TestDeployHealth runs the health check of the images and of the Deployment with and
// without a server.
func TestDeployHealth(t *testing.T) {
	t.Parallel()
	check := []string{"robots-guard", "registry", "status"}
	for name, spelled := range map[string]string{"Dockerfile.scratch": `CMD ["/usr/bin/caddy", "` + strings.Join(check, `", "`) + `"]`, "kubernetes.yaml": "command: [caddy, " + strings.Join(check, ", ") + "]"} {
		if !strings.Contains(deployed(t, name), spelled) {
			t.Errorf("%s lacks %s", name, spelled)
		}
	}
	admin, port := harness.FreePort(t), harness.FreePort(t)
	at := append(check, "--address", "localhost:"+admin)
	if _, _, code := harness.Command(t, "", at...); code == 0 {
		t.Error("the health check succeeds without a server")
	}
	s := harness.Start(t, "{\n admin localhost:"+admin+"\n persist_config off\n}\nhttp://:"+port+" {\n robots_guard\n respond ok\n}", "127.0.0.1:"+port, "localhost:"+admin)
	if out, stderr, code := harness.Command(t, "", at...); code != 0 {
		t.Errorf("exit status %d: %s%s", code, out, stderr)
	}
	s.Stop()
}

// TestDeployObserved checks the references in the files for Prometheus and Grafana.
func TestDeployObserved(t *testing.T) {
	var compose struct {
		Services map[string]struct{ Volumes []string }
		Volumes  map[string]any
	}
	if err := yaml.Unmarshal([]byte(deployed(t, "compose.observed.yaml")), &compose); err != nil {
		t.Fatal(err)
	}
	mounted := make(map[string]bool)
	for name, service := range compose.Services {
		for _, volume := range service.Volumes {
			from, to, _ := strings.Cut(volume, ":")
			mounted[filepath.Base(strings.TrimSuffix(to, ":ro"))] = true
			if _, named := compose.Volumes[from]; named {
				continue
			}
			if _, err := os.Stat(filepath.Join("../../examples/deploy", from)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	var prometheus struct {
		Rules []string `yaml:"rule_files"`
	}
	if err := yaml.Unmarshal([]byte(deployed(t, "prometheus.yml")), &prometheus); err != nil {
		t.Fatal(err)
	}
	for _, rules := range prometheus.Rules {
		if !mounted[rules] {
			t.Errorf("%s is not mounted", rules)
		}
	}
	if len(prometheus.Rules) == 0 || !strings.Contains(deployed(t, "datasource.yml"), "http://prometheus:9090") {
		t.Error("Prometheus lacks the rules, or Grafana lacks Prometheus")
	}
	port := regexp.MustCompile(`(?m)^    - port: (\w+)$`).FindStringSubmatch(deployed(t, "servicemonitor.yaml"))
	if port == nil || !strings.Contains(deployed(t, "kubernetes.yaml"), "    - name: "+port[1]+"\n      port: 9180\n") {
		t.Errorf("the ServiceMonitor uses port %v", port)
	}
}

// TestDeployHardened checks the exposure level that systemd computes for the unit.
func TestDeployHardened(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd is not installed")
	}
	path, err := filepath.Abs("../../examples/deploy/caddy.service")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--no-pager", path).CombinedOutput()
	level := regexp.MustCompile(`Overall exposure level for caddy.service: (\d+\.\d)`).FindSubmatch(out)
	if level == nil {
		t.Skipf("this version of systemd does not compute it: %v", err)
	}
	if exposed, _ := strconv.ParseFloat(string(level[1]), 64); exposed > 2 {
		t.Errorf("the exposure level is %.1f", exposed)
	}
}
