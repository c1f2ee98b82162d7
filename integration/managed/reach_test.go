package managed

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestAnsweredBefore checks hosts where other handlers respond to /robots.txt before
// robots_txt. The self-test warns about these hosts only.
func TestAnsweredBefore(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /p\n", nil).AnswerSelfTest()
	s := harness.Serve(t, `(managed) {
		robots_txt {
			disallow GPTBot
		}
	}
	http://respond.test:$PORT {
		route {
			respond /robots.txt "User-agent: *"
			import managed
			reverse_proxy $ORIGIN
		}
	}
	http://f.test:$PORT {
		root $STATIC
		route {
			@exists file
			file_server @exists
			import managed
			reverse_proxy $ORIGIN
		}
	}
	http://login.test:$PORT {
		route {
			basic_auth {
				Bob $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG
			}
			import managed
			reverse_proxy $ORIGIN
		}
	}
	http://below.test:$PORT {
		handle_path /app/* {
			import managed
			reverse_proxy $ORIGIN
		}
	}
	http://good.test:$PORT, http://*.good.test:$PORT {
		log
		import managed
		reverse_proxy $ORIGIN
	}
	http://own.test:$PORT { # which asks another site of this server
		route {
			forward_auth 127.0.0.1:$PORT {
				uri /verify
				header_up Host auth.test
			}
			import managed
			reverse_proxy $ORIGIN
		}
	}
	http://auth.test:$PORT {
		respond "welcome"
	}
	http://some.test:$PORT {
		@some header X-Some *
		robots_txt @some {
			disallow GPTBot
		}
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address(), "$STATIC", harness.Files(t, map[string]string{"robots.txt": "User-agent: *\n"}))
	const warning = "self-test: robots_txt gets no requests for /robots.txt"
	var got []string
	for _, line := range s.Await(warning, 4) {
		got = append(got, line["site"].(string)+" "+fmt.Sprint(line["status"]))
	}
	s.Await("self-test: robots.txt was fetched", 4) // good.test, its wildcard, own.test and some.test
	slices.Sort(got)
	want := []string{"http://below.test 200", "http://f.test 200", "http://login.test 401", "http://respond.test 200"}
	if n := len(s.Lines(warning)); !slices.Equal(got, want) || n != len(want) {
		t.Errorf("got %d lines: %q", n, got)
	}
	for _, r := range o.Seen() { // the base is fetched with the guard's User-Agent
		if strings.HasSuffix(r.Host, "good.test") && !strings.HasPrefix(r.UserAgent(), "RobotsGuard") {
			t.Errorf("%s is fetched as %q", r.Host, r.UserAgent())
		}
	}
	for _, line := range s.Lines("handled request") {
		if r := line["request"].(map[string]any); strings.HasSuffix(r["host"].(string), "good.test") && r["remote_port"] == "1" {
			t.Errorf("the access log has %v", line)
		}
	}
}
