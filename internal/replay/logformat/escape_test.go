package logformat

import (
	"testing"
)

func TestUnescape(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`plain`, "plain"},
		{`\x22a\x5Cb\xff`, "\"a\\b\xff"},
		{`\"a\\b\n\t\r\b\f\v\/`, "\"a\\b\n\t\r\b\f\v/"},
		{`\\x22`, `\x22`},
		{`\u00fc\ud83d\ude00`, "ü😀"},
		{`\ud83dx`, "\ufffdx"},
		{`\x2`, `\x2`},
		{`\xzz`, `\xzz`},
		{`\u00g0`, `\u00g0`},
		{`[FBAN\]`, "[FBAN]"}, // of HAProxy's +E
		{`\q`, `\q`},
		{`a\`, `a\`},
	} {
		var buf []byte
		if got := string(unescape([]byte(tc.in), &buf)); got != tc.want {
			t.Errorf("%s is %q, want %q", tc.in, got, tc.want)
		}
	}
}

func TestUnpercent(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "%20b%2": " b%2", "%": "%", "%zz%41": "%zzA", "%2520": "%20"} {
		var buf []byte
		if got := string(DecodePercent([]byte(in), &buf)); got != want {
			t.Errorf("%s is %q, want %q", in, got, want)
		}
	}
}
