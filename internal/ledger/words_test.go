package ledger

import (
	"encoding"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestStoredWords holds what is stored of a verdict, an action and an identity to words, which no
// change of the constants' order can turn into others.
func TestStoredWords(t *testing.T) {
	for _, tc := range []struct {
		words string
		all   []encoding.TextMarshaler
		read  func([]byte) (fmt.Stringer, error)
	}{
		{"allowed disallowed stale exempt unknown", []encoding.TextMarshaler{judge.Allowed, judge.Disallowed, judge.Stale, judge.Exempt, judge.Unknown},
			func(b []byte) (fmt.Stringer, error) { var v judge.Verdict; err := v.UnmarshalText(b); return v, err }},
		{"none logged blocked", []encoding.TextMarshaler{judge.NoAction, judge.Logged, judge.Blocked},
			func(b []byte) (fmt.Stringer, error) { var a judge.Action; err := a.UnmarshalText(b); return a, err }},
		{"claimed unknown verified spoofed", []encoding.TextMarshaler{verify.Claimed, verify.Unknown, verify.Verified, verify.Spoofed},
			func(b []byte) (fmt.Stringer, error) { var i verify.State; err := i.UnmarshalText(b); return i, err }},
	} {
		for i, word := range strings.Fields(tc.words) {
			if got, err := json.Marshal(tc.all[i]); string(got) != `"`+word+`"` {
				t.Errorf("%s is stored as %s, %v", word, got, err)
			}
			if got, err := tc.read([]byte(word)); err != nil || any(got) != any(tc.all[i]) {
				t.Errorf("%s is read as %v, %v", word, got, err)
			}
		}
		if got, err := tc.read([]byte("1")); err == nil {
			t.Errorf("1 is read as %v", got)
		}
	}
}
