package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestInWords(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:           "the value is of type array",
		`{"agent": 1}`: "agent cannot be of type number",
		`{`:            "unexpected EOF",
		`{"agnet": 1}`: `unknown field "agnet"`,
	} {
		var into struct {
			Agent string `json:"agent"`
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		if got := RemoveGoTypes(decoder.Decode(&into)); got == nil || got.Error() != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}
