package documents

import (
	"errors"
	"io"
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

// passwordHash is the output of caddy hash-password for "demo".
const passwordHash = "$2a$14$PagGKKQXIZPOMWZfR0.Wj.S.Ai23lgrrdTOiRTnzBjFIGempsLydK"

// deployed returns a file of examples/deploy.
func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../examples/deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// validates fails the test unless caddy validate accepts a Caddyfile.
func validates(t *testing.T, text string) {
	t.Helper()
	t.Setenv("DASHBOARD_HASH", passwordHash)
	name := filepath.Join(t.TempDir(), "Caddyfile")
	harness.Write(t, name, text)
	if _, output, code := harness.Command(t, "", "validate", "--config", name); code != 0 {
		t.Errorf("invalid Caddyfile:\n%s\n%s", text, harness.Tail(output, 600))
	}
}

// TestDeployCaddyfile validates the Caddyfile for Docker and systemd, and compares it
// with the guide.
func TestDeployCaddyfile(t *testing.T) {
	caddyfile := deployed(t, "Caddyfile")
	validates(t, caddyfile)
	guide, err := os.ReadFile("../../docs/guides/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	plain := regexp.MustCompile(`(?s)^#.*?\n|\thandle .*?\n\t}\n`).ReplaceAllString(caddyfile, "")
	if shown := shownFiles(string(guide))["Caddyfile"]; shown != plain {
		t.Errorf("the guide contains\n%s\nbut the file without the dashboard is\n%s", shown, plain)
	}
}

// TestDockerfile checks that the Dockerfile builds the server as README.md describes,
// and copies the result.
func TestDockerfile(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	gomod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	stages, last, dir, built := map[string]bool{}, "", "", ""
	for line := range strings.Lines(deployed(t, "Dockerfile")) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" || strings.HasPrefix(words[0], "#") {
			continue
		}
		rest := strings.Join(words[1:], " ")
		switch words[0] {
		case "FROM":
			last = ""
			if version, ok := strings.CutPrefix(words[1], "golang:"); ok && !strings.Contains(string(gomod), "\ngo "+version+".") {
				t.Errorf("%s, but go.mod needs a different version of Go", words[1])
			}
			if len(words) == 4 && words[2] == "AS" {
				last = words[3]
				stages[last] = true
			}
		case "WORKDIR":
			dir = rest
		case "RUN":
			if !strings.Contains(string(readme), "\n"+rest+"\n") {
				t.Errorf("README.md does not build with %q", rest)
			}
			if args := strings.Fields(rest); len(args) == 5 && args[2] == "-o" && args[4] == "./cmd/caddy" {
				built = dir + "/" + args[3]
			}
		case "COPY":
			stage, from := strings.CutPrefix(words[1], "--from=")
			if from && (!stages[stage] || words[2] != built || words[3] != "/usr/bin/caddy") {
				t.Errorf("%s copies a file that was not built: %s", strings.TrimSpace(line), built)
			}
			if from {
				built = "copied"
			}
		case "ENV":
		default:
			t.Errorf("this test does not support %s", words[0])
		}
	}
	if built != "copied" || last != "" {
		t.Errorf("the last stage lacks the built server: %q, %q", built, last)
	}
}

// TestDeployCompose compares the file for Docker Compose with the files to which it
// refers.
func TestDeployCompose(t *testing.T) {
	type service struct {
		Build struct {
			Context, Dockerfile string
		}
		Image   string
		Volumes []string
	}
	var compose struct {
		Services map[string]service
		Volumes  map[string]any
	}
	if err := yaml.Unmarshal([]byte(deployed(t, "compose.yaml")), &compose); err != nil {
		t.Fatal(err)
	}
	caddy := compose.Services["caddy"]
	if _, err := os.Stat(filepath.Join("../../examples/deploy", caddy.Build.Context, caddy.Build.Dockerfile)); err != nil {
		t.Error(err)
	}
	mounted := map[string]string{}
	for _, volume := range caddy.Volumes {
		from, to, _ := strings.Cut(volume, ":")
		mounted[to] = from
		if _, ok := compose.Volumes[from]; !ok && from != "." {
			t.Errorf("no volume %s", from)
		}
	}
	if mounted["/etc/caddy:ro"] != "." || mounted["/data"] == "" {
		t.Errorf("mounted are %v", mounted)
	}
	upstream := regexp.MustCompile(`reverse_proxy (\w+):8080`).FindStringSubmatch(deployed(t, "Caddyfile"))
	if upstream == nil || compose.Services[upstream[1]].Image == "" {
		t.Errorf("the Caddyfile uses the application %q, but the services are %v", upstream, compose.Services)
	}
}

// object contains the fields of a Kubernetes object that refer to other objects.
type object struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     struct {
		Selector any
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				Containers []struct {
					Ports []struct {
						Name          string
						ContainerPort int `yaml:"containerPort"`
					}
					VolumeMounts []struct{ Name, MountPath string } `yaml:"volumeMounts"`
				}
				Volumes []struct {
					Name      string
					ConfigMap struct{ Name string } `yaml:"configMap"`
					Claim     struct {
						ClaimName string `yaml:"claimName"`
					} `yaml:"persistentVolumeClaim"`
				}
			}
		}
		Ports []struct {
			TargetPort string `yaml:"targetPort"`
		}
	}
}

// TestDeployKubernetes validates the Caddyfile in the ConfigMap, and checks the
// references between the objects.
func TestDeployKubernetes(t *testing.T) {
	objects := map[string]object{}
	documents := yaml.NewDecoder(strings.NewReader(deployed(t, "kubernetes.yaml")))
	for {
		var o object
		err := documents.Decode(&o)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		objects[o.Kind+" "+o.Metadata.Name] = o
	}
	caddyfile := objects["ConfigMap caddy"].Data["Caddyfile"]
	validates(t, caddyfile)

	pod := objects["Deployment caddy"].Spec.Template
	mounts, ports := map[string]bool{}, map[string]bool{}
	for _, c := range pod.Spec.Containers {
		for _, m := range c.VolumeMounts {
			mounts[m.Name] = true
		}
		for _, p := range c.Ports {
			ports[p.Name] = true
			if !strings.Contains(caddyfile, ":"+strconv.Itoa(p.ContainerPort)+" {") {
				t.Errorf("no site listens at port %d", p.ContainerPort)
			}
		}
	}
	for _, v := range pod.Spec.Volumes {
		if !mounts[v.Name] {
			t.Errorf("the volume %s is not mounted", v.Name)
		}
		delete(mounts, v.Name)
		if name := v.ConfigMap.Name; name != "" && objects["ConfigMap "+name].Data["Caddyfile"] == "" {
			t.Errorf("no ConfigMap %s with a Caddyfile", name)
		}
		if name := v.Claim.ClaimName; name != "" && objects["PersistentVolumeClaim "+name].Kind == "" {
			t.Errorf("no PersistentVolumeClaim %s", name)
		}
	}
	if len(mounts) > 0 {
		t.Errorf("mounted volumes without a definition: %v", mounts)
	}
	service := objects["Service caddy"].Spec
	selector, _ := service.Selector.(map[string]any)
	if len(service.Ports) == 0 || !ports[service.Ports[0].TargetPort] || len(selector) == 0 {
		t.Errorf("the Service targets %v, but the ports are %v", service.Ports, ports)
	}
	for label, value := range selector {
		if pod.Metadata.Labels[label] != value {
			t.Errorf("the Service selects %s=%v, but the pods have %v", label, value, pod.Metadata.Labels)
		}
	}
}

// TestDeploySystemd verifies the unit with systemd-analyze.
func TestDeploySystemd(t *testing.T) {
	unit := deployed(t, "caddy.service")
	const installed = "/usr/local/bin/caddy"
	if strings.Count(unit, "="+installed+" ") != 2 {
		t.Errorf("the unit does not run %s as the guide installs it", installed)
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd is not installed; only systemd-analyze can verify a unit")
	}
	name := filepath.Join(t.TempDir(), "caddy.service")
	harness.Write(t, name, strings.ReplaceAll(unit, installed, harness.Binary(t)))
	if out, err := exec.Command("systemd-analyze", "verify", name).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze: %v\n%s", err, out)
	}
}
