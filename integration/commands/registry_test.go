package commands

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestRegistry runs the commands on valid and invalid files.
func TestRegistry(t *testing.T) {
	const entry = `{"token": "NewBot", "class": "ai_training", "source": "https://new.example/bot"}`
	dir := harness.Files(t, map[string]string{
		"good.json": `{"crawlers": [` + entry + "]}", "none.json": `{"crawlers": []}`,
		"bad.json": "{\"crawlers\": [\n" + strings.Replace(entry, "training", "trainig", 1) + ",\n{\"token\": \"A\", \"clas\": 1}\n]}",
	})
	for _, tc := range []struct {
		line string
		code int
		want string
	}{
		{"registry show GPTBot", 0, `{"token":"GPTBot","operator":"OpenAI","class":"ai_training"`},
		{"registry show NoSuchBot", 2, `does not contain "NoSuchBot"`},
		{"registry show GPTBot Gogglebot", 2, `does not contain "Gogglebot"; did you mean Googlebot?`},
		{"registry show Gogglebot GPTBot", 2, `{"token":"GPTBot","operator":"OpenAI"`}, // the entries that exist are printed
		{"registry show GPTBot", 0, `"checked":"2026-11-`},
		{"registry show --stale 36500d", 0, "entries was checked within the last 36500d"},
		{"registry show --stale 0d --json GPTBot", 0, `{"token":"GPTBot",`},
		{"registry show --stale soon", 2, `--stale "soon" is not a duration; write for example 180d or 12h`},
		{"registry export > built-in.json && caddy robots-guard registry diff built-in.json", 0, "nothing differs"},
		{"registry diff bad.json", 2, `bad.json:2:30: unknown class "ai_trainig"; did you mean ai_training?`},
		{"registry diff bad.json", 2, `bad.json:3:16: unknown field "clas"; did you mean class?`},
		{"registry diff nowhere.json", 2, "nowhere.json"},
		{"registry diff good.json", 1, "NewBot: added"},
		{"registry diff good.json none.json", 1, "NewBot: removed"},
		{"registry diff --json good.json good.json", 0, `"changes": []`},
		{"registry publish", 2, "give an action"},
	} {
		if out, code := shell(t, dir, "caddy robots-guard "+tc.line); code != tc.code || !strings.Contains(out, tc.want) {
			t.Errorf("$ %s\nexit status %d, want %d and %s\n%s", tc.line, code, tc.code, tc.want, out)
		}
	}
}
