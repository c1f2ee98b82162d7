package storage

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// storingSites make crawlers wait for the storage, so that the verdicts do not depend
// on its speed.
const storingSites = `http://a.test:$PORT, http://b.test:$PORT {
	robots_guard enforce {
		fetch_timeout 20s
		fetch_wait 20s
	}
	reverse_proxy $ORIGIN
}`

// storing runs an instance with a storage.
func storing(t *testing.T, store, home, origin string) *harness.Server {
	t.Helper()
	harness.NameInstance(t, home, fmt.Sprintf("00000000-0000-4000-8000-%012s", harness.FreePort(t)))
	return harness.ServeWith(t, []string{"XDG_DATA_HOME=" + home}, storingSites,
		"$GLOBAL", harness.StorageOn, "$STORE", store, "$ORIGIN", origin)
}

// askAs requests a URL with a Host field without a port, so that instances on different
// ports have the same sites.
func askAs(t *testing.T, s *harness.Server, url, userAgent string) harness.Answer {
	t.Helper()
	host, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	return harness.Get(t, s.URL(url), userAgent, func(r *http.Request) { r.Host = host })
}

// visitsAs is like harness.Visits with askAs.
func visitsAs(t *testing.T, s *harness.Server, all []harness.Visit) {
	t.Helper()
	for _, v := range all {
		if a := askAs(t, s, v.Path, v.UserAgent); a.Status != v.Status || !strings.Contains(a.Body, v.Body) {
			t.Errorf("%s as %q: got %d %q, want %d %q", v.Path, v.UserAgent, a.Status, a.Body, v.Status, v.Body)
		}
	}
}

// learn waits until the server has fetched the robots.txt of the given hosts.
func learn(t *testing.T, s *harness.Server, hosts ...string) {
	t.Helper()
	for _, host := range hosts {
		harness.Eventually(t, "the robots.txt of "+host+" is cached", func() bool {
			return askAs(t, s, "http://"+host+"/private/x", harness.Bingbot).Status == http.StatusForbidden
		})
	}
}

// stored returns the files of the policies in a storage.
func stored(t *testing.T, store string) (files []string) {
	t.Helper()
	return harness.Stored(t, store, "policies")
}

// awaitStored waits until n policies are stored. Other tests check the delay on a
// simulated clock.
func awaitStored(t *testing.T, store string, n int) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%d policies are stored", n), func() bool { return len(stored(t, store)) >= n })
}

// TestStorageAfterKill kills the server, and then the site is down. The next server
// still enforces the last good copy.
func TestStorageAfterKill(t *testing.T) {
	t.Parallel()
	store, home := t.TempDir(), t.TempDir()
	o := harness.NewOrigin(t, harness.ClosedRobots, nil)
	s := storing(t, store, home, o.Address())
	learn(t, s, "a.test")
	awaitStored(t, store, 1)
	s.Kill()
	o.GoDown()

	again := storing(t, store, home, o.Address())
	again.Await("policies restored from the storage", 1)
	visitsAs(t, again, []harness.Visit{
		{harness.Bingbot, "http://a.test/private/x", 403, "Disallow: /private/"},
		{harness.GPTBot, "http://a.test/page", 403, "GPTBot"},
		{harness.Bingbot, "http://a.test/page", 502, ""},
		{harness.Firefox, "http://a.test/private/x", 502, ""},
		{harness.Bingbot, "http://b.test/private/x", 502, ""}, // was never fetched
	})
	again.Kill()

	// A third start, as a container without its own disk.
	third := storing(t, store, t.TempDir(), o.Address())
	third.Await("policies restored from the storage", 1)
	visitsAs(t, third, []harness.Visit{{harness.Bingbot, "http://a.test/private/x", 403, "Disallow: /private/"}})
}

// put stores a policy that the instance "sibling" fetched some time ago.
func put(t *testing.T, store, host, robots string, age time.Duration) {
	t.Helper()
	read := time.Now().Add(-age)
	s := policy.State{}.AfterFetch(policy.FetchResult{Status: 200, Body: []byte(robots)}, read, policy.FreshnessPolicy{Max: time.Hour}, 0)
	data, err := policy.Snapshot{Key: policy.Key{Site: host, Host: host}, State: s, Saved: time.Now()}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, store, host, data)
}

func putFile(t *testing.T, store, host string, data []byte) {
	t.Helper()
	path := filepath.Join(store, "robots_guard", "v1", "sibling", "policies", storedName(host))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestStorageDamaged checks that the server ignores an invalid file and logs it once.
func TestStorageDamaged(t *testing.T) {
	t.Parallel()
	store, home := t.TempDir(), t.TempDir()
	o := harness.NewOrigin(t, harness.ClosedRobots, nil)
	s := storing(t, store, home, o.Address())
	learn(t, s, "a.test", "b.test")
	awaitStored(t, store, 2)
	s.Kill()
	damaged := stored(t, store)[0]
	data, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	putFile(t, store, "future", []byte(`{"format":7,"sha256":"","policy":{}}`))
	putFile(t, store, "noise", []byte("\x00\xff"))

	again := storing(t, store, home, o.Address())
	again.Await("policies restored from the storage", 1)
	lines := again.Await("stored values cannot be used and are set aside", 1)
	if len(lines) != 1 || lines[0]["count"] != 3.0 || lines[0]["reason"] == "" || lines[0]["level"] != "warn" {
		t.Errorf("logged %v", lines)
	}
	learn(t, again, "a.test", "b.test")
	visitsAs(t, again, []harness.Visit{
		{harness.Bingbot, "http://a.test/private/x", 403, "Disallow: /private/"},
		{harness.Bingbot, "http://b.test/private/x", 403, "Disallow: /private/"},
	})
	harness.Eventually(t, "the damaged policy is stored again", func() bool {
		mended, err := os.ReadFile(damaged)
		return err == nil && len(mended) > len(data)/2
	})
}

// TestStorageValidate checks that validation does not change the storage.
func TestStorageValidate(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "store")
	put(t, store, "a.test", harness.ClosedRobots, 40*24*time.Hour)
	before := stored(t, store)
	text, _, _ := harness.Configure(t, storingSites, "$GLOBAL", harness.StorageOn, "$STORE", store, "$ORIGIN", "127.0.0.1:1")
	home := t.TempDir()
	cmd := exec.Command(harness.Binary(t), "validate", "--config", harness.Caddyfile(t, text), "--adapter", "caddyfile")
	cmd.Env = harness.Home(home)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if after := stored(t, store); len(after) != len(before) {
		t.Errorf("stored files are %v, want %v", after, before)
	}
	if _, err := os.Stat(filepath.Join(home, "caddy", "instance.uuid")); err == nil {
		t.Error("validation created an instance ID")
	}
}

// storedName returns the file name of a policy in a storage.
func storedName(host string) string {
	sum := sha256.Sum256([]byte(policy.Key{Site: host, Host: host}.UniqueString()))
	return fmt.Sprintf("%x.json", sum)
}
