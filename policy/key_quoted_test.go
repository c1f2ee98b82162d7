package policy

import (
	"encoding/json"
	"testing"
)

// TestKeyQuoted checks that the strings are unique and unchanged, because stored data depend on
// them.
func TestKeyQuoted(t *testing.T) {
	key := Key{Server: ":8001", Site: "*.b.test", IsHTTPS: true, Host: "a.b.test", ForwardedHost: "c.test"}
	if got, want := key.UniqueString(), `"" ":8001" "*.b.test" true "a.b.test" "c.test"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	text, err := json.Marshal(key)
	if want := `{"server":":8001","site":"*.b.test","secure":true,"host":"a.b.test","forwarded":"c.test"}`; err != nil || string(text) != want {
		t.Errorf("the JSON is %s, want %s", text, want)
	}
	seen := make(map[string]Key)
	for _, k := range []Key{
		{}, key, {Source: "a"}, {Server: "a"}, {Site: "a"}, {Host: "a"}, {ForwardedHost: "a"}, {IsHTTPS: true},
		{Host: `a" "b`}, {Host: "a", ForwardedHost: "b"}, {Host: "a b"}, {Host: "\xff"}, {Host: "\xfe"}, {Host: `\xff`},
	} {
		if other, ok := seen[k.UniqueString()]; ok {
			t.Errorf("%#v and %#v are both %s", k, other, k.UniqueString())
		}
		seen[k.UniqueString()] = k
	}
}
