package botauth

import (
	"crypto/ed25519"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"
)

// The public key of RFC 9421 appendix B.1.4, which the drafts use as well.
const vectorX = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"

var vectorDirectory = `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"` + testKeyID + `","x":"` + vectorX + `","use":"sig"}]}`

// vectors are those for Ed25519 of the drafts, and one for RSA.
var vectors = []struct {
	name               string
	agent, input, sign string
	at                 int64
	want               Reason
}{
	{
		name:  "protocol-02, EdDSA, Signature-Agent as a Dictionary",
		agent: `agent2="https://signature-agent.test"`,
		input: `sig2=("@authority" "signature-agent";key="agent2");created=1735689600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600;nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==";tag="web-bot-auth"`,
		sign:  `sig2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:`,
		at:    1735689600, want: Verified,
	},
	{
		name:  "protocol-02, EdDSA, Signature-Agent as a String",
		agent: `"https://signature-agent.test"`,
		input: `sig2=("@authority" "signature-agent");created=1735689600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=1735693200;nonce="e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg==";tag="web-bot-auth"`,
		sign:  `sig2=:jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuHxUi/5Syp3rLWBA==:`,
		at:    1735693199, want: Verified,
	},
	{
		// This draft's vector is wrong: what was signed has the member's value without
		// its quotes, against RFC 9421 section 2.1.2 and the base that the draft prints.
		// Its successor has another signature.
		name:  "architecture-05, EdDSA, Signature-Agent as a Dictionary",
		agent: `agent2="https://signature-agent.test"`,
		input: `sig2=("@authority" "signature-agent";key="agent2");created=1735689600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600;nonce="XeP72svPKNiGEg3aDE7WJuTpN69H08oMFqC8NLFy1MptpENAT3WZTYwK+MYdsFMlaqHCJGo9ZAhqer1NWY9Epg==";tag="web-bot-auth"`,
		sign:  `sig2=:DGiW2ErlQh0hc8wY2FQdbnFd6CEmonyY8nlvECIJFaUSYYNvNvSsGyP99BUGtq51gA4ouXlkUwjnta084bpjCg==:`,
		at:    4889289599, want: Mismatch,
	},
	{
		// The signature is good, but it is nobody's: see TestVectorWithoutAgent.
		name:  "architecture-05, EdDSA, no Signature-Agent",
		input: `sig1=("@authority");created=1735689600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600;nonce="g0iqFa9e1ffijlyOScDkXpfSmTbYpRNSGPJrQ1It20ahwgzB3jOUcdgLgFxUg7RMtW4V8IILaKKtA+YuSyIgJQ==";tag="web-bot-auth"`,
		sign:  `sig1=:FFASViSdcgsyaqqYiCnkHreeZzbNKcTzDvZC5uVlP/dn9IbWj8j0o4wKFTH3rBnUiSUBduwm1Gp5VlIPCp01Ag==:`,
		at:    1735689600, want: NoAgent,
	},
	{
		name:  "protocol-02, RSASSA-PSS",
		agent: `"https://signature-agent.test"`,
		input: `sig2=("@authority" "signature-agent");created=1735689600;keyid="oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA";alg="rsa-pss-sha512";expires=1735693200;nonce="XSHtZVCThSIAksXsH9WBs6AtxtXC0eQGiIcUGSoJstFs8lAWakjhrfwzLhyjtme5iXMZvmFWqDEs6cT3Jf+BbQ==";tag="web-bot-auth"`,
		sign:  `sig2=:I1QWNzGXdP1a4dSvOHLCVOOanEYHDk+ZsVxM9MLX/p4ko69ghKwR5EOtAD96g7g4GWP7lmpM/jFAf9q8EFRDTPLjUXySwMv4YPgabv2LQihTJG2y8a2m6IGltyruwQNiqSJVUuRaG9+b17CGmAMFZh30X6GXLdQJrCARpeTqPwp2DC+a8haDE/VE5EruqzjA5/2mKwvrkzkSqeW5tOVtFwWRRHIOidquf/8Je6kM9mhgkg4arudLA5SL4wyyYE1jURIgcOl8agrfdJ5Def23DIRtiOLRa8jT9cpTLFAuFHN+mrZA/LH9h0gSIg1cPb+0cMASee5uku1KjWcFer7jWA==:`,
		at:    1735689600, want: UnsupportedAlgorithm,
	},
}

// vectorRequest is example.com's test-request with the fields of a vector.
func vectorRequest(agent, input, sign string) Request {
	r := Request{Method: "GET", Scheme: "https", Authority: "example.com", Target: "/path/to/resource", Header: http.Header{
		"Signature-Input": {input}, "Signature": {sign},
	}}
	if agent != "" {
		r.Header.Set("Signature-Agent", agent)
	}
	return r
}

// vectorVerifier returns a verifier that knows the vectors' agent and accepts
// their key and their lifetime of a century.
func vectorVerifier(t *testing.T, at int64) fixture {
	f := newFixture(t, ok(vectorDirectory), func(o *Options) {
		o.Agents = map[string]string{"https://signature-agent.test": "Test"}
		o.TestKeys, o.MaxLifetime = true, 101*365*24*time.Hour
	})
	f.clock.add(time.Unix(at, 0).Sub(start))
	if err := f.Refresh(t.Context(), "signature-agent.test"); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestVectors(t *testing.T) {
	for _, vector := range vectors {
		t.Run(vector.name, func(t *testing.T) {
			expect(t, vectorVerifier(t, vector.at).Check(vectorRequest(vector.agent, vector.input, vector.sign)), vector.want)
		})
		if vector.want != Verified {
			continue
		}
		changes := []struct {
			name string
			want Reason
			old  string // in the Signature-Input
			new  string
		}{
			{"other time of creation", Mismatch, "created=1735689600", "created=1735689599"},
			{"other expiry", Mismatch, `0;nonce=`, `1;nonce=`},
			{"other nonce", Mismatch, `nonce="`, `nonce="x`},
			{"other key", KeyUnknown, "poqkLGi", "poqkLGj"},
			{"other tag", NoSignature, `tag="web-bot-auth"`, `tag="web-bot-auth2"`},
			{"no alg in the signed parameters", Mismatch, `;alg="ed25519"`, ``},
			{"one component more", Mismatch, `("@authority"`, `("@authority" "@method"`},
			{"other component", Mismatch, `"@authority"`, `"@target-uri"`},
			{"agent not covered", NotCovered, ` "signature-agent"`, ` "@method"`},
		}
		for _, change := range changes {
			t.Run(vector.name+", "+change.name, func(t *testing.T) {
				input := strings.Replace(vector.input, change.old, change.new, 1)
				if change.name == "agent not covered" {
					input = strings.Replace(input, `;key="agent2"`, "", 1)
				}
				if input == vector.input {
					t.Fatal("nothing changed")
				}
				expect(t, vectorVerifier(t, vector.at).Check(vectorRequest(vector.agent, input, vector.sign)), change.want)
			})
		}
		t.Run(vector.name+", other host", func(t *testing.T) {
			r := vectorRequest(vector.agent, vector.input, vector.sign)
			r.Authority = "example.org"
			expect(t, vectorVerifier(t, vector.at).Check(r), Mismatch)
		})
		t.Run(vector.name+", spelling of the host", func(t *testing.T) {
			r := vectorRequest(vector.agent, vector.input, vector.sign)
			r.Authority = "EXAMPLE.com:443"
			expect(t, vectorVerifier(t, vector.at).Check(r), Verified)
		})
		t.Run(vector.name+", other agent", func(t *testing.T) {
			r := vectorRequest(strings.Replace(vector.agent, "signature-agent.test", "other.test", 1), vector.input, vector.sign)
			expect(t, vectorVerifier(t, vector.at).Check(r), AgentNotAllowed)
		})
	}
}

// By default the vectors' key and their lifetime are refused.
func TestVectorsRefused(t *testing.T) {
	f := newFixture(t, ok(vectorDirectory), func(o *Options) { o.Agents = map[string]string{"signature-agent.test": "Test"} })
	f.clock.add(time.Unix(1735689600, 0).Sub(start))
	if err := f.Refresh(t.Context(), "signature-agent.test"); err != nil {
		t.Fatal(err)
	}
	century, legacy := vectors[0], vectors[1]
	expect(t, f.Check(vectorRequest(century.agent, century.input, century.sign)), LifetimeTooLong)
	expect(t, f.Check(vectorRequest(legacy.agent, legacy.input, legacy.sign)), KeyUnknown)
}

// verifyVector verifies a signature outside of the profile.
func verifyVector(t *testing.T, r Request, label string) bool {
	t.Helper()
	f := fields{request: r}
	var err error
	if f.input, err = httpsfv.UnmarshalDictionary(r.Header["Signature-Input"]); err != nil {
		t.Fatal(err)
	}
	if f.values, err = httpsfv.UnmarshalDictionary(r.Header["Signature"]); err != nil {
		t.Fatal(err)
	}
	member, _ := f.input.Get(label)
	base, reason := f.base(member.(httpsfv.InnerList))
	if reason != Verified {
		t.Fatal(reason)
	}
	signature, reason := f.signature(label)
	if reason != Verified {
		t.Fatal(reason)
	}
	public, err := base64.RawURLEncoding.DecodeString(vectorX)
	if err != nil {
		t.Fatal(err)
	}
	return ed25519.Verify(public, base, signature)
}

func TestVectorWithoutAgent(t *testing.T) {
	vector := vectors[3]
	if !verifyVector(t, vectorRequest(vector.agent, vector.input, vector.sign), "sig1") {
		t.Error("the signature does not verify")
	}
}

// RFC 9421 appendix B.2.6, over test-request of appendix B.2.
func TestVectorRFC9421(t *testing.T) {
	r := Request{Method: "POST", Scheme: "https", Authority: "example.com", Target: "/foo?param=Value&Pet=dog", Header: http.Header{
		"Date":           {"Tue, 20 Apr 2021 02:07:55 GMT"},
		"Content-Type":   {"application/json"},
		"Content-Length": {"18"},
		"Signature-Input": {`sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length")` +
			`;created=1618884473;keyid="test-key-ed25519"`},
		"Signature": {`sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:`},
	}}
	if !verifyVector(t, r, "sig-b26") {
		t.Error("the signature does not verify")
	}
	r.Header["Date"] = []string{"Tue, 20 Apr 2021 02:07:56 GMT"}
	if verifyVector(t, r, "sig-b26") {
		t.Error("the signature verifies with another date")
	}
	expect(t, warm(t).Check(r), NoSignature) // it has no tag
}
