package harness

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// Reloadable is a server whose configuration a test can replace.
type Reloadable struct {
	*Server
	Admin  string // port of the admin endpoint
	Config string // Caddyfile with the placeholders $NAME and $MORE
}

const reloadableConfig = `{
	admin 127.0.0.1:$ADMIN
	persist_config off
}
http://127.0.0.1:$METRICS {
	metrics /metrics
}
http://a.test:$PORT {
	robots_guard enforce
	header X-Config "$NAME"
	$MORE
	reverse_proxy $ORIGIN {
		transport http {
			keepalive off # stock Caddy leaves these connections to idle after a reload
			dial_timeout 30s # of 3 s a loaded machine needs more
		}
	}
}
`

// ServeReloadable runs a server in front of an origin.
func ServeReloadable(t testing.TB, o *Origin) *Reloadable {
	t.Helper()
	s := &Reloadable{Admin: FreePort(t)}
	port, metrics := FreePort(t), FreePort(t)
	s.Config = strings.NewReplacer("$ADMIN", s.Admin, "$METRICS", metrics, "$PORT", port, "$ORIGIN", o.Address()).Replace(reloadableConfig)
	s.Server = Start(t, s.Named("first", ""), "127.0.0.1:"+port, "127.0.0.1:"+metrics, "127.0.0.1:"+s.Admin)
	s.Port, s.MetricsPort = port, metrics
	return s
}

// Named returns the configuration with the given name and additional directives in the
// site.
func (s *Reloadable) Named(name, more string) string {
	return strings.NewReplacer("$NAME", name, "$MORE", more).Replace(s.Config)
}

// MustLoad loads a configuration and fails the test if the server rejects it.
func (s *Reloadable) MustLoad(caddyfile string) {
	s.t.Helper()
	if status, body := s.Load(caddyfile); status != http.StatusOK {
		s.t.Fatal(status, body)
	}
}

// Load sends a configuration to the admin endpoint and returns the response.
func (s *Reloadable) Load(caddyfile string) (status int, body string) {
	s.t.Helper()
	var response *http.Response
	Eventually(s.t, "the admin endpoint answers", func() bool {
		r, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:"+s.Admin+"/load", strings.NewReader(caddyfile))
		if err != nil {
			s.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "text/caddyfile")
		response, err = Client.Do(r) // sometimes fails while Caddy replaces the endpoint itself
		return err == nil
	})
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text)
}
