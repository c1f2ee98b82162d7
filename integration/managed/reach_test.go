package managed

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// Whoever answers /robots.txt before robots_txt, so that it is never asked, is told at
// the start; where it is asked nothing is, and no request reaches the site.
func TestAnsweredBefore(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /p\n", nil)
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
	var all []string
	for _, line := range s.Await("robots_txt is never asked for /robots.txt", 4) {
		all = append(all, line["host"].(string)+" "+line["why"].(string))
	}
	told := strings.Join(all, "\n")
	for host, want := range map[string]string{
		"respond.test": "status 200", "f.test": "status 200", "login.test": "status 401", "below.test": "requests for other paths",
	} {
		found := false
		for _, line := range all {
			found = found || strings.HasPrefix(line, host+" ") && strings.Contains(line, want)
		}
		if !found {
			t.Errorf("%s: %q is not told of\n%s", host, want, told)
		}
	}
	if strings.Contains(told, "good.test") || strings.Contains(told, "some.test") || len(all) != 4 {
		t.Errorf("told of too many:\n%s", told)
	}
	if seen := len(o.Seen()); seen > 0 {
		t.Errorf("the site was asked %d times", seen)
	}
	for _, line := range s.Lines("handled request") {
		if r := line["request"].(map[string]any); strings.HasSuffix(r["host"].(string), "good.test") && r["remote_port"] == "1" {
			t.Errorf("the access log has %v", line)
		}
	}
}
