package identity

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// skipWithoutRoots skips a test whose server has to trust the test's certificates.
func skipWithoutRoots(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux the environment can make the server trust the test's certificate")
	}
}

// signer is an operator that signs its requests.
type signer struct {
	key        ed25519.PrivateKey
	agent      string // origin of its key directory
	roots      string // file with the certificate of the directory
	signatures int
	noNonce    bool
	created    time.Time                        // zero for now
	answer     atomic.Pointer[http.HandlerFunc] // of the directory, nil for its keys
}

func newSigner(t *testing.T) *signer {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	directory, err := json.Marshal(map[string]any{"keys": []any{
		map[string]string{"kty": "OKP", "crv": "Ed25519", "x": base64.RawURLEncoding.EncodeToString(public)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := &signer{key: private}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer := s.answer.Load(); answer != nil {
			(*answer)(w, r)
			return
		}
		if r.URL.Path != "/.well-known/http-message-signatures-directory" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/http-message-signatures-directory+json")
		_, _ = w.Write(directory) // fails if the client has disconnected
	}))
	t.Cleanup(server.Close)
	s.roots = filepath.Join(t.TempDir(), "roots.pem")
	harness.Write(t, s.roots, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	s.agent = server.URL
	return s
}

// sign signs a request according to RFC 9421 and the drafts of Web Bot Auth, with a new
// nonce each time.
func (s *signer) sign(r *http.Request) {
	x := base64.RawURLEncoding.EncodeToString(s.key.Public().(ed25519.PublicKey))
	thumbprint := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`)) // RFC 7638
	s.signatures++
	now := s.created
	if now.IsZero() {
		now = time.Now()
	}
	nonce := fmt.Sprintf(`;nonce="n%d"`, s.signatures)
	if s.noNonce {
		nonce = ""
	}
	params := fmt.Sprintf(`("@authority" "signature-agent";key="sig1");created=%d;expires=%d;keyid="%s";alg="ed25519"%s;tag="web-bot-auth"`,
		now.Unix(), now.Add(time.Hour).Unix(), base64.RawURLEncoding.EncodeToString(thumbprint[:]), nonce)
	base := fmt.Sprintf("\"@authority\": %s\n\"signature-agent\";key=\"sig1\": \"%s\"\n\"@signature-params\": %s", r.URL.Host, s.agent, params)
	r.Header.Set("Signature-Agent", fmt.Sprintf(`sig1="%s"`, s.agent))
	r.Header.Set("Signature-Input", "sig1="+params)
	r.Header.Set("Signature", "sig1=:"+base64.StdEncoding.EncodeToString(ed25519.Sign(s.key, []byte(base)))+":")
}

// signing runs a server with the given crawlers that verifies only signatures.
func signing(t *testing.T, operator *signer, crawlers string) *harness.Server {
	t.Helper()
	site := "http://a.test:$PORT {\n header >X-Identity {http.robots_guard.identity}\n robots_guard enforce\n respond /robots.txt `" + identityRobots + "`\n respond page\n}"
	return harness.ServeWith(t, []string{"SSL_CERT_FILE=" + operator.roots}, site, "$GLOBAL", `robots_guard {
		verify {
			ranges off
			rdns off
			web_bot_auth on
		}
		`+crawlers+`
	}`)
}

// TestIdentityBySignature verifies clients by Web Bot Auth. A signature proves nothing
// if it is invalid, reused or by another operator.
func TestIdentityBySignature(t *testing.T) {
	t.Parallel()
	skipWithoutRoots(t)
	operator, stranger := newSigner(t), newSigner(t)
	s := signing(t, operator, `crawler AcmeBot {
			operator Acme
			class search
			web_bot_auth `+operator.agent+`
		}
		crawler AcmeScout {
			operator Acme
			web_bot_auth `+operator.agent+`/.well-known/http-message-signatures-directory
		}`)
	identity := func(userAgent string, change ...func(*http.Request)) string {
		t.Helper()
		return harness.Get(t, s.URL("/"), userAgent, change...).Header.Get("X-Identity")
	}
	harness.Eventually(t, "a signature is verified", func() bool { return identity(acmeUA, operator.sign) == "verified" })
	if read := s.Await("key directory of a signing agent read", 1); len(read) != 1 || read[0]["agent"] != operator.agent || read[0]["keys"] != 1.0 {
		t.Errorf("logged %v", read)
	}
	if n := s.Metrics().Sum("caddy_robots_guard_signature_directory_keys", `agent="`+operator.agent+`"`); n != 1 {
		t.Errorf("%v keys", n)
	}
	var again http.Header
	for _, row := range []struct {
		name, userAgent string
		change          func(*http.Request)
		want            string
	}{
		{"signed", acmeUA, func(r *http.Request) { operator.sign(r); again = r.Header.Clone() }, "verified"},
		{"the operator's other crawler", "AcmeScout/2.0", operator.sign, "verified"},
		{"sent again", acmeUA, func(r *http.Request) { r.Header = again }, "claimed"},
		{"not signed", acmeUA, func(*http.Request) {}, "claimed"},
		{"signed by another operator", acmeUA, stranger.sign, "claimed"},
		{"the name of another operator's crawler", harness.Bingbot, operator.sign, "claimed"},
		{"another host", acmeUA, func(r *http.Request) { r.URL.Host = "b.test"; operator.sign(r); r.URL.Host = "a.test:" + s.Port }, "claimed"},
		{"broken", acmeUA, func(r *http.Request) { operator.sign(r); r.Header.Set("Signature", "sig1=:AAAA:") }, "claimed"},
		{"a browser that signs", harness.Firefox, operator.sign, ""},
	} {
		if got := identity(row.userAgent, row.change); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// TestKeyDirectoryFails checks that a faulty key directory is reported once in the log,
// in the metrics, and by the command.
func TestKeyDirectoryFails(t *testing.T) {
	t.Parallel()
	skipWithoutRoots(t)
	const failed = "the key directory of a signing agent cannot be used; the next message comes when the key directory can be used"
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		says   string
	}{
		{"down", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusServiceUnavailable) }, "status 503"},
		{"mistyped", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"keys": []}`))
		}, `media type "application/json"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			operator := newSigner(t)
			operator.answer.Store(&test.answer)
			crawler := "crawler AcmeBot {\n web_bot_auth " + operator.agent + "\n}"
			s := signing(t, operator, crawler)
			signed := func() { harness.Get(t, s.URL("/"), acmeUA, operator.sign) }
			signed()
			line := s.Await(failed, 1)[0]
			if text := fmt.Sprint(line["error"]); !strings.Contains(text, test.says) || line["agent"] != operator.agent {
				t.Errorf("logged %v, want %q", line, test.says)
			}
			signed()
			m := s.Metrics()
			for reason, least := range map[string]float64{"directory_pending": 1, "directory_unavailable": 1, "verified": 0} {
				if n := m.Sum("caddy_robots_guard_signature_checks_total", `reason="`+reason+`"`); n < least || least == 0 && n > 0 {
					t.Errorf("counted %v checks as %s", n, reason)
				}
			}
			if n := m.Sum("caddy_robots_guard_signature_directory_fetches_total", `result="failed"`); n != 1 {
				t.Errorf("%v fetches have failed, want 1", n)
			}

			config := filepath.Join(t.TempDir(), "Caddyfile")
			harness.Write(t, config, "{\n robots_guard {\n  verify {\n   ranges off\n   rdns off\n   web_bot_auth on\n  }\n  "+crawler+"\n }\n}\n")
			verify := func(more ...string) string {
				args := append([]string{"robots-guard", "identify", "--ip", somebodyElse, "--config", config, acmeUA}, more...)
				cmd := exec.Command(harness.Binary(t), args...)
				cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+operator.roots)
				stdout, err := cmd.Output()
				if err != nil {
					t.Error(err)
				}
				return string(stdout)
			}
			if said := verify(); !strings.Contains(said, "was not checked") {
				t.Errorf("without --online the command prints %s", said)
			}
			if said := verify("--online"); !strings.Contains(said, "web_bot_auth: ") || !strings.Contains(said, test.says) {
				t.Errorf("the command prints %s, want %q", said, test.says)
			}
			operator.answer.Store(nil)
			if said := verify("--online"); !strings.Contains(said, "usable keys: 1") {
				t.Errorf("the command prints %s", said)
			}
			if n := len(s.Lines(failed)); n != 1 {
				t.Errorf("logged %d times that it cannot be used", n)
			}
		})
	}
}
