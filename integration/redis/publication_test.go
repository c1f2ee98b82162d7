package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
)

const managedConfig = `{
	admin off
	persist_config off
	storage redis_for_tests 127.0.0.1:$REDIS
}
http://a.test:$PORT, http://b.test:$PORT {
	robots_txt {
		base none
		rule $RULE {
			for SEO_BOT
			disallow /$RULE
		}
	}
}
`

// publisher is an instance that publishes a rule when it starts.
type publisher struct {
	*harness.Process
	port string
}

// publishes starts the instance with the given number and its own rule.
func publishes(t *testing.T, redis string, number int, home, rule string) publisher {
	t.Helper()
	p := publisher{port: harness.FreePort(t)}
	text := strings.NewReplacer("$REDIS", redis, "$PORT", p.port, "$RULE", rule, "SEO_BOT", "AhrefsBot").Replace(managedConfig)
	harness.NameInstance(t, home, fmt.Sprintf("00000000-0000-4000-8000-%012d", number))
	cmd := exec.Command(harness.Binary(t), "run", "--config", harness.Caddyfile(t, text), "--adapter", "caddyfile")
	cmd.Env = harness.Home(home)
	p.Process = harness.Attend(t, cmd, "127.0.0.1:"+p.port)
	return p
}

// history returns the stored history of the only site.
func history(t *testing.T, client *redis.Client) (s publish.History) {
	t.Helper()
	ctx := context.Background()
	keys, err := client.Keys(ctx, publish.Directory+"/*/state.json").Result()
	if err != nil || len(keys) > 1 {
		t.Fatalf("%d histories, want one: %v", len(keys), err)
	}
	if len(keys) == 0 {
		return s
	}
	data, err := client.HGet(ctx, keys[0], fieldValue).Bytes()
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return s
}

// TestPublishingAtOnce makes three instances on one Redis server publish different
// rules concurrently and repeatedly. Some instances are killed meanwhile. In the end
// all serve the same robots.txt, and the history contains each change once and in
// order.
func TestPublishingAtOnce(t *testing.T) {
	t.Parallel()
	port := harness.FreePort(t)
	startRedis(t, port)
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port})
	defer client.Close()
	homes := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	var all [3]publisher
	const rounds = 3
	for round := range rounds {
		var started sync.WaitGroup
		for i := range all {
			started.Go(func() {
				if all[i].Process != nil {
					all[i].Kill()
				}
				all[i] = publishes(t, port, i+1, homes[i], fmt.Sprintf("rule-%d-%d", round, i))
			})
		}
		started.Wait()
		if round == rounds-1 {
			break
		}
		if round == 0 {
			time.Sleep(time.Duration(round+1) * 50 * time.Millisecond) // kills it while it publishes
			continue
		}
		harness.Eventually(t, "all three have published", func() bool { return history(t, client).ChangeCount >= 3 })
	}
	texts := func() (texts []string) {
		for _, p := range all {
			for _, host := range []string{"a.test", "b.test"} {
				texts = append(texts, harness.Get(t, "http://127.0.0.1:"+p.port+"/robots.txt", harness.Bingbot, harness.Host(host)).Body)
			}
		}
		return texts
	}
	same := func() bool {
		all := texts()
		return strings.Contains(all[0], fmt.Sprintf("rule-%d-", rounds-1)) && len(slices.Compact(all)) == 1
	}
	// The lock of a killed instance has to expire first, and instances load the history
	// once a minute.
	const longest = 3 * time.Minute
	for began := time.Now(); !same(); time.Sleep(time.Second) {
		if time.Since(began) > longest {
			t.Fatalf("the instances serve different files: %q", texts())
		}
	}
	state := history(t, client)
	if state.Pending != nil || state.Published == nil || len(state.Past) != state.ChangeCount-1 || state.ChangeCount < 3 || state.ChangeCount > 3*rounds {
		t.Fatalf("published %+v, pending %+v, %d changes and %d in the history", state.Published, state.Pending, state.ChangeCount, len(state.Past))
	}
	next := *state.Published
	for i, change := range state.Past {
		if change.ID != next.Parent || change.Number != next.Number-1 || change.State != publish.Superseded {
			t.Errorf("entry %d of the history: change %d (%s, %s) is before %d, whose parent is %s", i, change.Number, change.ID, change.State, next.Number, next.Parent)
		}
		next = change
	}
	if next.Number != 1 || next.Parent != publish.SpecID(publish.Empty) {
		t.Errorf("the first change is %+v", next)
	}
}
