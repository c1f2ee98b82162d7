package botauth

import (
	"net/http"
	"testing"
)

func BenchmarkCheck(b *testing.B) {
	signed := newSigning()
	signed.param("nonce", "") // without a nonce, because every second check would be a replay
	unknownKey := signed
	unknownKey.param("keyid", `"x"`)
	otherAgent := signed
	otherAgent.request.Header = http.Header{"Signature-Agent": {`sig1="https://x.example"`}}
	plain := newSigning().request
	delete(plain.Header, "Signature-Agent")
	otherTag := signed
	otherTag.param("tag", `"other"`)
	broken := signed
	broken.key = testKey("other")
	brokenOnes := broken.sign()
	for _, label := range []string{"sig2", "sig3", "sig4"} { // the maximum number of checked signatures
		broken.request, broken.label = brokenOnes, label
		brokenOnes = broken.sign()
	}
	for _, bench := range []struct {
		name    string
		request Request
		want    Reason
	}{
		{"no signature", plain, NoSignature},
		{"another tag", otherTag.sign(), NoSignature},
		{"agent not allowed", otherAgent.sign(), AgentNotAllowed},
		{"key unknown", unknownKey.sign(), KeyUnknown},
		{"four broken ones", brokenOnes, Mismatch},
		{"valid", signed.sign(), Verified},
	} {
		b.Run(bench.name, func(b *testing.B) {
			v := warm(b)
			b.ReportAllocs()
			for b.Loop() {
				if got := v.Check(bench.request); got.Reason != bench.want {
					b.Fatalf("got %v", got.Reason)
				}
			}
		})
	}
}

// TestNoAllocationWithoutSignature checks that unsigned requests, the usual case, do not allocate.
func TestNoAllocationWithoutSignature(t *testing.T) {
	v, r := warm(t), newSigning().request
	if n := testing.AllocsPerRun(100, func() { v.Check(r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
