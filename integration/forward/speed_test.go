package forward

import (
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// BenchmarkDecision sends decision requests over one connection, as a proxy does. For
// comparison it requests an empty response of the same server.
func BenchmarkDecision(b *testing.B) {
	app := harness.NewOrigin(b, robots, nil)
	s := harness.Serve(b, `http://:$PORT {
		handle /empty {
			respond 200
		}
		handle {
			robots_guard enforce {
				decide forwarded a.test
				source http://$APP/robots.txt host {host}
				allow_private on
			}
		}
	}`, "$GLOBAL", trusting, "$APP", app.Address())
	for _, tc := range []struct{ name, path, userAgent, target string }{
		{"an empty response", "/empty", harness.Bingbot, "/public/"},
		{"a browser", "/", harness.Firefox, "/public/"},
		{"an allowed crawler", "/", harness.Bingbot, "/public/"},
		{"a disallowed crawler", "/", harness.Bingbot, "/private/"},
	} {
		b.Run(tc.name, func(b *testing.B) {
			for b.Loop() {
				req, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:"+s.Port+tc.path, nil)
				if err != nil {
					b.Fatal(err)
				}
				req.Header.Set("User-Agent", tc.userAgent)
				for _, field := range about("a.test", tc.target) {
					name, value, _ := strings.Cut(field, ": ")
					req.Header.Set(name, value)
				}
				response, err := http.DefaultClient.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				buffer := make([]byte, 4096)
				for err == nil {
					_, err = response.Body.Read(buffer)
				}
				_ = response.Body.Close()
			}
		})
	}
}
