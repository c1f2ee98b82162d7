package alert

import "testing"

func TestCapitalize(t *testing.T) {
	for s, want := range map[string]string{"": "", "a name": "A name", "éclairBot": "ÉclairBot", "\xffbot": "\ufffdbot"} {
		if got := capitalize(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}
