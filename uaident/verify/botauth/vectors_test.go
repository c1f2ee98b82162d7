package botauth

import (
	"bytes"
	"crypto/ed25519"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"
)

// vectorX is the public key of RFC 9421 appendix B.1.4. The drafts use it too.
const vectorX = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"

var vectorDirectory = `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"` + testKeyID + `","x":"` + vectorX + `","use":"sig"}]}`

//go:embed testdata/vectors.jsonl
var vectorLines []byte

// vector is a signed request of testdata/vectors.jsonl: the vectors of the drafts with both forms
// of Signature-Agent, and additional vectors with the same key. The vector of architecture-05 is
// invalid. The signature covers the member's value without its quotes, which contradicts RFC 9421
// section 2.1.2 and the signature base in the draft. The next version of the draft corrects the
// signature.
type vector struct {
	name, source       string
	agent, input, sign string
	at                 int64
	want               Reason
}

// vectors are the vectors of the file.
var vectors = readVectors()

func readVectors() (vectors []vector) {
	for line := range bytes.Lines(vectorLines) {
		var row struct {
			Name, Source, Agent, Input, Signature, Want string
			At                                          int64
		}
		if err := json.Unmarshal(line, &row); err != nil {
			panic(err)
		}
		want := slices.IndexFunc(Reasons(), func(r Reason) bool { return r.String() == row.Want })
		if want < 0 || row.Source == "" {
			panic("no such result, or no source: " + string(line))
		}
		vectors = append(vectors, vector{row.Name, row.Source, row.Agent, row.Input, row.Signature, row.At, Reason(want)})
	}
	return vectors
}

// vectorRequest is the test-request of example.com with the fields of a vector.
func vectorRequest(agent, input, sign string) Request {
	r := Request{Method: "GET", Scheme: "https", Authority: "example.com", Target: "/path/to/resource", Header: http.Header{
		"Signature-Input": {input}, "Signature": {sign},
	}}
	if agent != "" {
		r.Header.Set("Signature-Agent", agent)
	}
	return r
}

// vectorVerifier returns a verifier with the vectors' agent. vectorVerifier accepts their test key
// and their lifetime of a century.
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
			old  string // part of Signature-Input
			new  string
		}{
			{"other time of creation", Mismatch, "created=1735689600", "created=1735689599"},
			{"other expiry", Mismatch, `0;nonce=`, `1;nonce=`},
			{"other nonce", Mismatch, `nonce="`, `nonce="x`},
			{"other key", KeyUnknown, "poqkLGi", "poqkLGj"},
			{"other tag", NoSignature, `tag="web-bot-auth"`, `tag="web-bot-auth2"`},
			{"no alg in the signed parameters", Mismatch, `;alg="ed25519"`, ``},
			{"an additional component", Mismatch, `("@authority"`, `("@authority" "@method"`},
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
					t.Fatal("the replacement changed nothing")
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

// TestVectorsRefused checks that the default options reject the vectors' key and lifetime.
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

// verifyVector verifies a signature without the rules of the profile.
func verifyVector(t *testing.T, r Request, label string) bool {
	t.Helper()
	f := signedFields{request: r}
	var err error
	if f.input, err = httpsfv.UnmarshalDictionary(r.Header["Signature-Input"]); err != nil {
		t.Fatal(err)
	}
	if f.values, err = httpsfv.UnmarshalDictionary(r.Header["Signature"]); err != nil {
		t.Fatal(err)
	}
	member, _ := f.input.Get(label)
	base, reason := f.signatureBase(member.(httpsfv.InnerList))
	if reason != Verified {
		t.Fatal(reason)
	}
	signature, reason := f.decodeSignature(label)
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

// TestVectorRFC9421 checks RFC 9421 appendix B.2.6, a signature of test-request in appendix B.2.
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
	expect(t, warm(t).Check(r), NoSignature) // the signature has no tag
}
