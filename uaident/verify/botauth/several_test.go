package botauth

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestSeveralSignatures checks requests with several signatures, tags and labels.
func TestSeveralSignatures(t *testing.T) {
	good := newSigning()
	labelled := func(label string, change func(*signing)) signing {
		s := newSigning()
		s.label = label
		change(&s)
		return s
	}
	broken := func(label string) signing {
		return labelled(label, func(s *signing) { s.key = testKey("other") })
	}
	expired := labelled("sig2", func(s *signing) { s.created(start.Add(-time.Hour)); s.expires(start) })
	stranger := labelled("sig3", func(s *signing) { s.param("keyid", `"x"`) })
	otherTag := labelled("sig4", func(s *signing) { s.param("tag", `"other"`) })
	for _, test := range []struct {
		name     string
		signings []signing
		want     Reason
	}{
		{"another tag before", []signing{otherTag, good}, Verified},
		{"a broken signature before", []signing{broken("sig2"), good}, Verified},
		{"a broken signature after", []signing{good, broken("sig2")}, Verified},
		{"only broken signatures: the reason of the first", []signing{expired, broken("sig5")}, Expired},
		{"an unknown key may be valid", []signing{expired, stranger}, KeyUnknown},
		{"in any order", []signing{stranger, expired}, KeyUnknown},
		{"the last checked signature", []signing{broken("a"), broken("b"), broken("c"), good}, Verified},
		{"beyond the last checked signature", []signing{broken("a"), broken("b"), broken("c"), broken("d"), good}, TooLarge},
		{"the same label twice: the last applies", []signing{broken("sig1"), good}, Verified},
		{"the same label twice, in the other order", []signing{good, broken("sig1")}, Mismatch},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := test.signings[0].sign()
			for _, s := range test.signings[1:] {
				s.request = r
				r = s.sign()
			}
			expect(t, warm(t).Check(r), test.want)
		})
	}
}

// TestCoversAnotherSignature checks a signature that covers another signature and its input.
func TestCoversAnotherSignature(t *testing.T) {
	inner := newSigning()
	inner.label, inner.key = "in", testKey("stranger")
	inner.param("tag", `"other"`)
	inner.components, inner.lines = []string{`"@authority"`}, []string{`"@authority": www.example.com`}
	r := inner.sign()
	_, params, _ := strings.Cut(r.Header.Get("Signature-Input"), "=")
	_, value, _ := strings.Cut(r.Header.Get("Signature"), "=")
	outer := newSigning()
	outer.request = r
	outer.cover(`"signature-input";key="in"`, params)
	outer.cover(`"signature";key="in"`, value)
	expect(t, warm(t).Check(outer.sign()), Verified)

	outer.cover(`"signature";key="absent"`, value)
	expect(t, warm(t).Check(outer.sign()), ComponentAbsent)
}

func TestHeader(t *testing.T) {
	const input = `sig1=("@authority" "signature-agent";key="sig1");created=1;expires=2;keyid="k";tag="web-bot-auth"`
	header := func(input, signature string) http.Header {
		return http.Header{"Signature-Input": {input}, "Signature": {signature}, "Signature-Agent": {`sig1="https://bot.example"`}}
	}
	long := strings.Repeat("x", 1<<20)
	many := strings.Repeat(input+", ", 1000) + input
	for _, test := range []struct {
		name   string
		header http.Header
		want   Reason
	}{
		{"no header", nil, NoSignature},
		{"no signature", http.Header{"Signature-Agent": {`sig1="https://bot.example"`}}, NoSignature},
		{"a signature with another tag", header(`a=("@method");tag="x"`, "a=:AA==:"), NoSignature},
		{"a malformed signature with another tag", header(`a=("@method`, "a=:AA==:"), NoSignature},
		{"the tag in another parameter", header(`a=("@method");keyid="web-bot-auth"`, "a=:AA==:"), NoSignature},
		{"an Item", header(`a="web-bot-auth";tag="web-bot-auth"`, "a=:AA==:"), NoSignature},
		{"malformed", header(`sig1=(;tag="web-bot-auth"`, "sig1=:AA==:"), Malformed},
		{"Signature malformed", header(input, "sig1=:A"), Malformed},
		{"Signature is a String", header(strings.Replace(input, "=1;expires=2", fmt.Sprintf("=%d;expires=%d", start.Unix(), start.Unix()+9), 1), `sig1="AA"`), Malformed},
		{"Signature of another label", header(strings.Replace(input, "=1;expires=2", fmt.Sprintf("=%d;expires=%d", start.Unix(), start.Unix()+9), 1), `sig2=:AA==:`), MissingSignature},
		{"no Signature", http.Header{"Signature-Input": {strings.Replace(input, "=1;expires=2", fmt.Sprintf("=%d;expires=%d", start.Unix(), start.Unix()+9), 1)}}, MissingSignature},
		{"a megabyte of input", header(input+`;x="`+long+`"`, "sig1=:AA==:"), TooLarge},
		{"a megabyte of signature", header(input, "sig1=:"+long+":"), TooLarge},
		{"a thousand signatures", header(many, "sig1=:AA==:"), TooLarge},
		{"a thousand signatures of distinct labels", header(labels(), "sig1=:AA==:"), TooLarge},
		{"a thousand lines", http.Header{"Signature-Input": strings.Split(many, ", ")}, TooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := warm(t)
			expect(t, f.Check(Request{Method: "GET", Scheme: "https", Authority: "www.example.com", Target: "/", Header: test.header}), test.want)
		})
	}
	t.Run("a megabyte of agent", func(t *testing.T) {
		h := header(input, "sig1=:AA==:")
		h.Set("Signature-Agent", `"`+long+`"`)
		expect(t, warm(t).Check(Request{Header: h}), TooLarge)
	})
}

// labels returns a Signature-Input within its bound with as many as fit.
func labels() string {
	var b strings.Builder
	for i := 0; b.Len() < MaxField-100; i++ {
		fmt.Fprintf(&b, `a%d=();tag="web-bot-auth",`, i)
	}
	return b.String() + `z=();tag="web-bot-auth"`
}
