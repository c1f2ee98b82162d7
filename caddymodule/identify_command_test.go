package caddymodule

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runVerify runs the command with a configuration that has an address list for Googlebot and no
// reverse DNS.
func runVerify(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	dir := t.TempDir()
	list, config := filepath.Join(dir, "list.txt"), filepath.Join(dir, "Caddyfile")
	for name, text := range map[string]string{
		list: "192.0.2.0/24\n",
		config: "{\n robots_guard {\n  verify {\n   ranges configured\n   rdns off\n  }\n  crawler Googlebot {\n   ranges file " + list + "\n  }\n" +
			"  crawler AcmeBot {\n   class seo\n  }\n }\n}\nexample.com {\n robots_guard\n}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return executeRobotsGuard(t, "", append([]string{"identify", "--config", config}, args...)...)
}

// claimReport is the tested part of the JSON output.
type claimReport struct {
	Crawler, Operator, Identity, Proof string
	Steps                              []any
}

func TestVerifyCommand(t *testing.T) {
	for _, test := range []struct {
		name, userAgent, ip string
		want                claimReport
		mentions            string
		failed              bool
	}{
		{"the real one", "Googlebot/2.1", "192.0.2.7",
			claimReport{Crawler: "Googlebot", Operator: "Google", Identity: "verified", Proof: "ranges"}, "list.txt", false},
		{"a false one", "Googlebot/2.1", "203.0.113.7",
			claimReport{Crawler: "Googlebot", Operator: "Google", Identity: "spoofed", Proof: "ranges"}, "list.txt", true},
		{"an unregistered crawler", "AcmeBot/1.0", "203.0.113.7",
			claimReport{Crawler: "AcmeBot", Operator: "AcmeBot", Identity: "claimed", Proof: "none"}, "", false},
		{"one that is not in the registry", "SomeUnheardOfBot/1.0 (+https://x.example/bot)", "203.0.113.7",
			claimReport{Crawler: "SomeUnheardOfBot", Identity: "claimed", Proof: "none"}, "registry", false},
		{"a browser", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "203.0.113.7",
			claimReport{Identity: "claimed", Proof: "none"}, "does not claim", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			output, err := runVerify(t, "--json", "--ip", test.ip, test.userAgent)
			if (err != nil) != test.failed {
				t.Errorf("error: %v", err)
			}
			var got claimReport
			if err := json.Unmarshal([]byte(strings.SplitN(output, "\nError", 2)[0]), &got); err != nil {
				t.Fatalf("%v in %q", err, output)
			}
			if got.Crawler != test.want.Crawler || got.Operator != test.want.Operator || got.Identity != test.want.Identity || got.Proof != test.want.Proof {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			if len(got.Steps) == 0 || !strings.Contains(output, test.mentions) {
				t.Errorf("%q does not mention %q", output, test.mentions)
			}
			text, _ := runVerify(t, "--ip", test.ip, test.userAgent)
			if !strings.Contains(text, "identity      "+test.want.Identity) {
				t.Errorf("the text is %q", text)
			}
		})
	}
}

// TestIdentifyByConfiguration identifies a crawler from the configuration.
func TestIdentifyByConfiguration(t *testing.T) {
	output, err := runVerify(t, "AcmeBot/1.0")
	if err != nil || output != "AcmeBot\tseo\n" {
		t.Errorf("got %q, %v", output, err)
	}
}

func TestVerifyCommandErrors(t *testing.T) {
	for name, args := range map[string][]string{
		"needs one User-Agent":             {"--ip", "192.0.2.1"},
		"not an IP address":                {"--ip", "example.com", "Googlebot"},
		"in quotes":                        {"--ip", "192.0.2.1", "Googlebot", "(compatible)"},
		"--online needs --ip":              {"--online", "Googlebot"},
		"file missing/Caddyfile not found": {"--ip", "192.0.2.1", "--config", "missing/Caddyfile", "Googlebot"},
	} {
		if _, err := executeRobotsGuard(t, "", append([]string{"identify"}, args...)...); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: got %v, want %q", args, err, name)
		}
	}
}
