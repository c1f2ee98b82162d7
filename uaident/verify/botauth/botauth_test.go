package botauth

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const (
	testAgent    = "https://bot.example"
	testOperator = "Example"
)

// start is the initial time of all tests.
var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// clock is a manual clock.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time       { return start.Add(time.Duration(c.offset.Load())) }
func (c *clock) add(by time.Duration) { c.offset.Add(int64(by)) }

// testKey returns a private key that is derived from name only.
func testKey(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func keyID(private ed25519.PrivateKey) string {
	return thumbprint(private.Public().(ed25519.PublicKey))
}

// jwkOf returns the JSON Web Key of a private key, with the additional fields in more.
func jwkOf(private ed25519.PrivateKey, more map[string]any) map[string]any {
	key := map[string]any{
		"kty": "OKP", "crv": "Ed25519", "kid": keyID(private), "use": "sig",
		"x": base64.RawURLEncoding.EncodeToString(private.Public().(ed25519.PublicKey)),
	}
	maps.Copy(key, more)
	return key
}

func directoryOf(keys ...map[string]any) string {
	if keys == nil {
		keys = []map[string]any{}
	}
	text, err := json.Marshal(map[string]any{"keys": keys, "purpose": "rag"})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// origins is an http.RoundTripper with the responses of all agents.
type origins struct {
	fetches atomic.Int64
	answer  func(*http.Request) (*http.Response, error)
}

func (o *origins) RoundTrip(r *http.Request) (*http.Response, error) {
	o.fetches.Add(1)
	return o.answer(r)
}

// ok responds with a directory.
func ok(text string, header ...string) func(*http.Request) (*http.Response, error) {
	return status(http.StatusOK, text, append([]string{"Content-Type", directoryType}, header...)...)
}

func status(code int, text string, header ...string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
	}
}

// fixture is a Verifier with its dependencies.
type fixture struct {
	*Verifier
	clock   *clock
	origins *origins
}

func newFixture(tb testing.TB, answer func(*http.Request) (*http.Response, error), change ...func(*Options)) fixture {
	tb.Helper()
	f := fixture{clock: new(clock), origins: &origins{answer: answer}}
	options := Options{
		Agents: map[string]string{testAgent: testOperator},
		Client: &http.Client{Transport: f.origins}, Now: f.clock.now,
	}
	for _, change := range change {
		change(&options)
	}
	var err error
	if f.Verifier, err = New(options); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(f.Close)
	return f
}

// warm is newFixture after the directory of the agent was fetched.
func warm(tb testing.TB, change ...func(*Options)) fixture {
	tb.Helper()
	f := newFixture(tb, ok(directoryOf(jwkOf(testKey("bot"), nil))), change...)
	if err := f.Refresh(tb.Context(), testAgent); err != nil {
		tb.Fatal(err)
	}
	return f
}

// signing is a request and its signature. The tests build the signature base themselves and do not
// use the code of this package.
type signing struct {
	request    Request
	label      string
	components []string // component identifiers as in Signature-Input
	lines      []string // lines of the signature base, one for each component
	params     []string // parameters as in Signature-Input, in order
	key        ed25519.PrivateKey
}

// newSigning returns a request with the signature of the draft's example.
func newSigning() signing {
	return signing{
		request: Request{
			Method: "GET", Scheme: "https", Authority: "www.example.com", Target: "/page?q=1",
			Header: http.Header{"Signature-Agent": {`sig1="https://bot.example"`}, "Accept": {"text/html"}},
		},
		label:      "sig1",
		components: []string{`"@authority"`, `"signature-agent";key="sig1"`},
		lines:      []string{`"@authority": www.example.com`, `"signature-agent";key="sig1": "https://bot.example"`},
		params: []string{
			fmt.Sprintf("created=%d", start.Unix()), fmt.Sprintf("expires=%d", start.Add(time.Hour).Unix()),
			fmt.Sprintf("keyid=%q", keyID(testKey("bot"))), `alg="ed25519"`, `nonce="n1"`, `tag="web-bot-auth"`,
		},
		key: testKey("bot"),
	}
}

// cover adds a component and its line in the signature base.
func (s *signing) cover(component, value string) {
	s.components = append(s.components, component)
	s.lines = append(s.lines, component+": "+value)
}

// param replaces a parameter. An empty value removes the parameter.
func (s *signing) param(name, value string) {
	for i, param := range s.params {
		if strings.HasPrefix(param, name+"=") {
			s.params = append(append([]string(nil), s.params[:i]...), s.params[i+1:]...)
			break
		}
	}
	if value != "" {
		s.params = append(s.params, name+"="+value)
	}
}

func (s *signing) created(at time.Time) { s.param("created", fmt.Sprint(at.Unix())) }
func (s *signing) expires(at time.Time) { s.param("expires", fmt.Sprint(at.Unix())) }

// sign returns the request with an additional signature.
func (s signing) sign() Request {
	params := "(" + strings.Join(s.components, " ") + ");" + strings.Join(s.params, ";")
	base := strings.Join(append(append([]string(nil), s.lines...), `"@signature-params": `+params), "\n")
	signature := base64.StdEncoding.EncodeToString(ed25519.Sign(s.key, []byte(base)))
	r := s.request
	r.Header = r.Header.Clone()
	r.Header.Add("Signature-Input", s.label+"="+params)
	r.Header.Add("Signature", s.label+"=:"+signature+":")
	return r
}

func expect(t *testing.T, got Result, want Reason) {
	t.Helper()
	if got.Reason != want || got.State != want.State() {
		t.Errorf("got %v: %v, want %v: %v", got.State, got.Reason, want.State(), want)
	}
	if got.State == Valid && (got.Agent == "" || got.Operator == "" || got.KeyID == "") {
		t.Errorf("a valid signature without operator or agent: %+v", got)
	}
}
