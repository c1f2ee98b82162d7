package botauth

import (
	"crypto/ed25519"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestParseKeys(t *testing.T) {
	private := testKey("bot")
	repeated := func(n int) string {
		keys := make([]map[string]any, n)
		for i := range keys {
			keys[i] = map[string]any{"kty": "oct"}
		}
		return directoryOf(keys...)
	}
	for _, test := range []struct {
		name string
		text string
		keys int
		err  string
	}{
		{"one key", directoryOf(jwkOf(private, nil)), 1, ""},
		{"two keys", directoryOf(jwkOf(private, nil), jwkOf(testKey("next"), nil)), 2, ""},
		{"the same twice", directoryOf(jwkOf(private, nil), jwkOf(private, nil)), 1, ""},
		{"no keys: all were removed", `{"keys":[]}`, 0, ""},
		{"a kid that is not the thumbprint", directoryOf(jwkOf(private, map[string]any{"kid": keyID(testKey("other"))})), 0, ""},
		{"a kid of the owner's choice", directoryOf(jwkOf(private, map[string]any{"kid": "key-1"})), 0, ""},
		{"no kid", directoryOf(jwkOf(private, map[string]any{"kid": ""})), 1, ""},
		{"use is sig", directoryOf(jwkOf(private, map[string]any{"use": "sig"})), 1, ""},
		{"use is enc", directoryOf(jwkOf(private, map[string]any{"use": "enc"})), 0, ""},
		{"another type", directoryOf(jwkOf(private, map[string]any{"kty": "EC"})), 0, ""},
		{"another curve", directoryOf(jwkOf(private, map[string]any{"crv": "X25519"})), 0, ""},
		{"x is too short", directoryOf(jwkOf(private, map[string]any{"x": "AAAA", "kid": ""})), 0, ""},
		{"x is padded", directoryOf(jwkOf(private, map[string]any{"x": vectorX + "=", "kid": ""})), 0, ""},
		{"x in another spelling", directoryOf(jwkOf(private, map[string]any{"x": otherSpelling(private), "kid": ""})), 0, ""},
		{"x is a number", directoryOf(jwkOf(private, map[string]any{"x": 1})), 0, ""},
		{"a wrong entry beside a right one", `{"keys":[1,null,"x",[],{},` + string(mustJSON(jwkOf(private, nil))) + `]}`, 1, ""},
		{"the key of RFC 9421's examples", vectorDirectory, 0, ""},
		{"as many entries as may be", repeated(MaxKeys), 0, ""},
		{"one more", repeated(MaxKeys + 1), 0, "more than 64 keys"},
		{"no keys member", `{}`, 0, "missing member keys"},
		{"keys is null", `{"keys":null}`, 0, "missing member keys"},
		{"keys is an object", `{"keys":{}}`, 0, "not a JSON Web Key Set"},
		{"a list", `[]`, 0, "not a JSON Web Key Set"},
		{"two documents", `{"keys":[]}{"keys":[]}`, 0, "not a JSON Web Key Set"},
		{"HTML", `<!doctype html>`, 0, "not a JSON Web Key Set"},
		{"nothing", ``, 0, "not a JSON Web Key Set"},
		{"deep nesting", `{"keys":` + strings.Repeat("[", 30000), 0, "not a JSON Web Key Set"},
		{"too large", `{"keys":[]}` + strings.Repeat(" ", MaxDirectory), 0, "larger than 65536 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			keys, err := parseKeys([]byte(test.text), false)
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("error %v, want %q", err, test.err)
			}
			if len(keys) != test.keys {
				t.Errorf("%d keys, want %d", len(keys), test.keys)
			}
		})
	}
}

// otherSpelling returns x with bits set that no byte of the key has.
func otherSpelling(private ed25519.PrivateKey) string {
	x := jwkOf(private, nil)["x"].(string)
	last := strings.IndexByte(alphabet, x[len(x)-1])
	return x[:len(x)-1] + alphabet[last+1:last+2]
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// RFC 8037 appendix A.3.
func TestThumbprint(t *testing.T) {
	const want = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
	keys, err := parseKeys([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`), false)
	if _, found := keys[want]; !found || err != nil {
		t.Errorf("got %v, %v", keys, err)
	}
}

func TestKeyTimes(t *testing.T) {
	at := func(d time.Duration) int64 { return start.Add(d).Unix() }
	for _, test := range []struct {
		name string
		more map[string]any
		want Reason
	}{
		{"no limits", nil, Verified},
		{"valid since now", map[string]any{"nbf": at(0)}, Verified},
		{"not valid yet", map[string]any{"nbf": at(time.Second)}, KeyNotCurrent},
		{"expires now", map[string]any{"exp": at(0)}, KeyNotCurrent},
		{"expires in a second", map[string]any{"exp": at(time.Second)}, Verified},
		{"a fraction of a second", map[string]any{"nbf": float64(at(-1)) + 0.5, "exp": float64(at(0)) + 0.5}, Verified},
		{"both", map[string]any{"nbf": at(-time.Hour), "exp": at(time.Hour)}, Verified},
		{"times that are no numbers", map[string]any{"nbf": "2025-01-01"}, KeyUnknown},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, ok(directoryOf(jwkOf(testKey("bot"), test.more))))
			if err := f.Refresh(t.Context(), testAgent); err != nil {
				t.Fatal(err)
			}
			expect(t, f.Check(newSigning().sign()), test.want)
		})
	}
}
