package identity

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// named returns a registry with the given entries.
func named(entries ...string) string {
	return fmt.Sprintf("{\"crawlers\": [\n%s\n]}", strings.Join(entries, ",\n"))
}

// Crawlers that the built-in registry lacks.
const (
	quuxle = `{"token": "Quuxle", "class": "ai_training", "source": "https://quuxle.test/"}`
	zerble = `{"token": "Zerble", "class": "search", "source": "https://zerble.test/"}`
)

// naming returns a Caddyfile with a registry, and the ports of its server.
func naming(t *testing.T, home, registry string) (caddyfile, admin, site string) {
	t.Helper()
	admin, port := harness.FreePort(t), harness.FreePort(t)
	return strings.NewReplacer("$ADMIN", admin, "$PORT", port, "$HOME", home, "$REGISTRY", registry).Replace(`{
	admin 127.0.0.1:$ADMIN
	persist_config off
	storage file_system $HOME
	robots_guard {
		storage on
		registry $REGISTRY
		crawler Zerble {
			operator Zerble
		}
	}
}
http://a.test:$PORT {
	robots_guard enforce
	header >X-Class {http.robots_guard.class}
	respond /robots.txt "User-agent: *
Disallow: /
"
	respond page
}
`), admin, port
}

// statusOf returns the status for a client with the given name.
func statusOf(t *testing.T, port, name string) int {
	t.Helper()
	return harness.Get(t, "http://127.0.0.1:"+port+"/x", name+"/1.0", harness.Host("a.test:"+port)).Status
}

// TestRegistryFile uses a file that changes while the server runs. The server rejects
// an implausible version until the configuration is reloaded.
func TestRegistryFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "registry.json")
	harness.Write(t, file, "{\"crawlers\": [\n{\"tokn\": 1}\n]}")
	config, admin, port := naming(t, home, file)
	caddyfile := harness.Caddyfile(t, config)
	if _, stderr, code := harness.Command(t, "", "validate", "--config", caddyfile); code == 0 || !strings.Contains(stderr, `registry.json:2:2: unknown field \"tokn\"; did you mean token?`) && !strings.Contains(stderr, `registry.json:2:2: unknown field "tokn"; did you mean token?`) {
		t.Errorf("exit status %d: %s", code, stderr)
	}
	harness.Write(t, file, named(zerble))
	server := harness.Run(t, caddyfile, harness.Home(home), "127.0.0.1:"+admin, "127.0.0.1:"+port)
	harness.Eventually(t, "Zerble is judged", func() bool { return statusOf(t, port, "Zerble") == http.StatusForbidden })
	if code := statusOf(t, port, "Quuxle"); code != http.StatusOK {
		t.Errorf("Quuxle gets %d before it is registered", code)
	}
	harness.Write(t, file, named(zerble, quuxle))
	harness.Eventually(t, "Quuxle is judged", func() bool { return statusOf(t, port, "Quuxle") == http.StatusForbidden })

	harness.Write(t, file, named())
	server.Await("the registry cannot be used; the previous version stays in use", 1)
	stdout, stderr, code := harness.Command(t, "", "robots-guard", "registry", "status", "--address", "127.0.0.1:"+admin)
	if code != 0 || !strings.Contains(stdout, ", with 2 entries, is in use") || !strings.Contains(stdout, "2 of the 2 entries of the version in use are missing") {
		t.Errorf("exit status %d: %s%s", code, stdout, stderr)
	}
	if code := statusOf(t, port, "Quuxle"); code != http.StatusForbidden {
		t.Errorf("Quuxle gets %d", code)
	}
	if _, stderr, code := harness.Command(t, "", "reload", "--force", "--config", caddyfile, "--address", "127.0.0.1:"+admin); code != 0 {
		t.Fatalf("reload: %s", stderr)
	}
	harness.Eventually(t, "Quuxle is unknown again", func() bool { return statusOf(t, port, "Quuxle") == http.StatusOK })
}

// TestRegistryURL checks that the last good version survives a restart while its server
// is down.
func TestRegistryURL(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	names := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		fmt.Fprint(w, named(quuxle))
	}))
	defer names.Close()
	home := t.TempDir()
	config, admin, port := naming(t, home, names.URL+"/registry.json")
	start := func() *harness.Server {
		return harness.Run(t, harness.Caddyfile(t, config), harness.Home(home), "127.0.0.1:"+admin, "127.0.0.1:"+port)
	}
	server := start()
	harness.Eventually(t, "Quuxle is judged", func() bool { return statusOf(t, port, "Quuxle") == http.StatusForbidden })
	harness.Eventually(t, "the registry is stored", func() bool {
		found, _ := filepath.Glob(filepath.Join(home, "robots_guard", "v1", "registry", "*.json"))
		return len(found) == 1
	})
	server.Stop()
	down.Store(true)
	server = start()
	server.Await("the registry cannot be used; the previous version stays in use", 1)
	harness.Eventually(t, "Quuxle is judged again", func() bool { return statusOf(t, port, "Quuxle") == http.StatusForbidden })
}

// TestRegistryPropose proposes an entry for an unregistered name and adds it to the
// file.
func TestRegistryPropose(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "registry.json")
	harness.Write(t, file, named(zerble))
	config, admin, port := naming(t, home, file)
	server := harness.Run(t, harness.Caddyfile(t, config), harness.Home(home), "127.0.0.1:"+admin, "127.0.0.1:"+port)
	for range 25 {
		if code := statusOf(t, port, "ThinkHarvestBot"); code != http.StatusForbidden {
			t.Fatalf("ThinkHarvestBot gets %d", code)
		}
	}
	harness.Get(t, "http://127.0.0.1:"+port+"/robots.txt", "ThinkHarvestBot/1.0", harness.Host("a.test:"+port))
	out, stderr, code := harness.Command(t, "", "robots-guard", "registry", "propose", "--address", "127.0.0.1:"+admin)
	if code != 0 || !strings.Contains(out, "# ThinkHarvestBot: 26 requests since ") || !strings.Contains(out, "from 1 network, fetched robots.txt once, class by structure: crawler") {
		t.Fatalf("exit status %d: %s%s", code, out, stderr)
	}
	server.Stop()
	config = strings.Replace(config, "\t\tcrawler Zerble", out+"\t\tcrawler Zerble", 1)
	if _, stderr, code := harness.Command(t, "", "validate", "--config", harness.Caddyfile(t, config)); code != 0 {
		t.Errorf("the proposed entry is invalid: %s", stderr)
	}
}
