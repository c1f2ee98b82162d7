package botauth

import (
	"net/http"
	"testing"
)

// FuzzCheck checks requests with random fields. Only signatures of the key are Valid. Check does
// not panic, and results contain no text from the client.
func FuzzCheck(f *testing.F) {
	for _, vector := range vectors {
		f.Add(vector.input, vector.sign, vector.agent, "example.com", "/path/to/resource")
	}
	r := newSigning().sign()
	h := r.Header
	f.Add(h.Get("Signature-Input"), h.Get("Signature"), h.Get("Signature-Agent"), r.Authority, r.Target)
	f.Add(h.Get("Signature-Input"), h.Get("Signature"), "", "", "*")
	f.Add(`a=("@authority" "signature";key="a" "signature-input";key="a");created=1;expires=2;keyid="";tag="web-bot-auth"`, "a=:AA==:", `"x"`, "[::1]:80", "http://x?")
	f.Add(`a=();tag="web-bot-auth",a=?1;tag="web-bot-auth"`, "a", "a", "", "")
	for _, agent := range []string{`sig1="https://bot.example";type=directory`, `sig1="https://bot.example";type=cimd;type=directory`, `"https://bot.example";type=directory`, `sig1=("https://bot.example");type=directory`} {
		f.Add(h.Get("Signature-Input"), h.Get("Signature"), agent, r.Authority, r.Target)
	}
	v := warm(f)
	f.Fuzz(func(t *testing.T, input, signature, agent, authority, target string) {
		request := Request{Method: "GET", Scheme: "https", Authority: authority, Target: target, Header: http.Header{
			"Signature-Input": {input}, "Signature": {signature}, "Signature-Agent": {agent},
		}}
		got := v.Check(request)
		if got.Reason.State() != got.State {
			t.Errorf("%v is %v", got.Reason, got.State)
		}
		if got.Agent != "" && got.Agent != testAgent || got.KeyID != "" && got.KeyID != keyID(testKey("bot")) {
			t.Errorf("got %+v", got)
		}
		if got.State == Valid && request.normalizedAuthority() != "www.example.com" {
			t.Errorf("valid for %q: %+v", authority, got)
		}
	})
}

// FuzzParseKeys parses random directories.
func FuzzParseKeys(f *testing.F) {
	f.Add([]byte(goodDirectory))
	f.Add([]byte(vectorDirectory))
	f.Add([]byte(`{"keys":[null,{"kty":"OKP","crv":"Ed25519","x":"","nbf":1e308,"exp":-1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		keys, err := parseKeys(text, false)
		if err != nil && keys != nil {
			t.Error("ParseKeys returns keys and an error")
		}
		for id, key := range keys {
			if id != thumbprint(key.public) || id == testKeyID {
				t.Errorf("key %q", id)
			}
		}
	})
}
