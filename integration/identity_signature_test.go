package integration

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// signer is an operator that signs its requests.
type signer struct {
	key        ed25519.PrivateKey
	agent      string // origin of its key directory
	roots      string // file with the certificate of that
	signatures int
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
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/http-message-signatures-directory" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/http-message-signatures-directory+json")
		_, _ = w.Write(directory) // who went away needs none
	}))
	t.Cleanup(server.Close)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	write(t, roots, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	return &signer{key: private, agent: server.URL, roots: roots}
}

// sign signs a request as RFC 9421 and the drafts of Web Bot Auth say, each time
// with another nonce.
func (s *signer) sign(r *http.Request) {
	x := base64.RawURLEncoding.EncodeToString(s.key.Public().(ed25519.PublicKey))
	thumbprint := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`)) // RFC 7638
	s.signatures++
	now := time.Now()
	params := fmt.Sprintf(`("@authority" "signature-agent";key="sig1");created=%d;expires=%d;keyid="%s";alg="ed25519";nonce="n%d";tag="web-bot-auth"`,
		now.Unix(), now.Add(time.Minute).Unix(), base64.RawURLEncoding.EncodeToString(thumbprint[:]), s.signatures)
	base := fmt.Sprintf("\"@authority\": %s\n\"signature-agent\";key=\"sig1\": \"%s\"\n\"@signature-params\": %s", r.URL.Host, s.agent, params)
	r.Header.Set("Signature-Agent", fmt.Sprintf(`sig1="%s"`, s.agent))
	r.Header.Set("Signature-Input", "sig1="+params)
	r.Header.Set("Signature", "sig1=:"+base64.StdEncoding.EncodeToString(ed25519.Sign(s.key, []byte(base)))+":")
}

// TestIdentityBySignature verifies claims by Web Bot Auth. A signature that
// fails, is sent again or is somebody else's proves nothing.
func TestIdentityBySignature(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a server cannot be told by its environment to trust the test's certificate")
	}
	operator, stranger := newSigner(t), newSigner(t)
	port, metrics := freePort(t), freePort(t)
	config := filepath.Join(t.TempDir(), "Caddyfile")
	write(t, config, strings.NewReplacer("$PORT", port, "$METRICS", metrics, "$GLOBAL", `robots_guard {
		verify {
			ranges off
			rdns off
			web_bot_auth on
		}
		crawler AcmeBot {
			class search
			web_bot_auth `+operator.agent+`
		}
	}`).Replace(globals+"http://a.test:$PORT {\n header >X-Identity {http.robots_guard.identity}\n robots_guard enforce\n respond /robots.txt `"+identityRobots+"`\n respond page\n}"))
	s := run(t, config, []string{"SSL_CERT_FILE=" + operator.roots}, "127.0.0.1:"+port)
	s.port = port
	const acmeBot = "AcmeBot/1.0 (+https://acme.example/bot)"
	identity := func(userAgent string, change ...func(*http.Request)) string {
		t.Helper()
		return get(t, s.url("/"), userAgent, change...).header.Get("X-Identity")
	}
	eventually(t, "a signature is verified", func() bool { return identity(acmeBot, operator.sign) == "verified" })
	var again http.Header
	for _, row := range []struct {
		name, userAgent string
		change          func(*http.Request)
		want            string
	}{
		{"signed", acmeBot, func(r *http.Request) { operator.sign(r); again = r.Header.Clone() }, "verified"},
		{"sent again", acmeBot, func(r *http.Request) { r.Header = again }, "claimed"},
		{"not signed", acmeBot, func(*http.Request) {}, "claimed"},
		{"signed by somebody else", acmeBot, stranger.sign, "claimed"},
		{"somebody else's name", bingbot, operator.sign, "claimed"},
		{"another host", acmeBot, func(r *http.Request) { r.URL.Host = "b.test"; operator.sign(r); r.URL.Host = "a.test:" + port }, "claimed"},
		{"broken", acmeBot, func(r *http.Request) { operator.sign(r); r.Header.Set("Signature", "sig1=:AAAA:") }, "claimed"},
		{"a browser that signs", firefox, operator.sign, ""},
	} {
		if got := identity(row.userAgent, row.change); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
