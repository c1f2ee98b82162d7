package jsontext

import (
	"encoding/json"
	"testing"
)

func TestInWords(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:           "it is of type array",
		`{"agent": 1}`: "agent cannot be of type number",
		`{`:            "unexpected end of JSON input",
	} {
		var into struct {
			Agent string `json:"agent"`
		}
		if got := InWords(json.Unmarshal([]byte(text), &into)); got == nil || got.Error() != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}
