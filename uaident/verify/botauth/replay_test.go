package botauth

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestReplay(t *testing.T) {
	f := warm(t)
	s := newSigning()
	expect(t, f.Check(s.sign()), Verified)
	expect(t, f.Check(s.sign()), Replayed)

	s.param("nonce", `"n2"`)
	s.created(start.Add(time.Second)) // a different signature
	expect(t, f.Check(s.sign()), Verified)

	s.created(start.Add(2 * time.Second)) // a different signature with a used nonce
	expect(t, f.Check(s.sign()), Replayed)

	s.param("nonce", "")
	for range 2 {
		expect(t, f.Check(s.sign()), Verified) // the drafts allow this, and the requests cannot be distinguished
	}
	f.clock.add(5*time.Minute + 3*time.Second)
	expect(t, f.Check(s.sign()), NonceMissing) // so only for five minutes, although the signature is valid for an hour

	t.Run("a broken signature uses up no nonce", func(t *testing.T) {
		f, s := warm(t), newSigning()
		broken := s
		broken.key = testKey("other")
		expect(t, f.Check(broken.sign()), Mismatch)
		expect(t, f.Check(s.sign()), Verified)
	})
	t.Run("a nonce is free again when its signature has expired", func(t *testing.T) {
		f, s := warm(t), newSigning()
		expect(t, f.Check(s.sign()), Verified)
		f.clock.add(time.Hour)
		s.created(f.clock.now())
		s.expires(f.clock.now().Add(time.Minute))
		expect(t, f.Check(s.sign()), Verified)
		expect(t, f.Check(s.sign()), Replayed)
	})
	t.Run("of many at once one is the first", func(t *testing.T) {
		f, r := warm(t), newSigning().sign()
		var wg sync.WaitGroup
		var valid atomic.Int64
		for range 16 {
			wg.Go(func() {
				if f.Check(r).State == Valid {
					valid.Add(1)
				}
			})
		}
		wg.Wait()
		if valid.Load() != 1 {
			t.Errorf("%d requests were valid", valid.Load())
		}
	})
	t.Run("memory is bounded", func(t *testing.T) {
		a := newSigningAgent(testAgent, testOperator)
		for i := range 2 * MaxNonces {
			if !a.isFirstUse(signatureParameters{keyID: "k", nonce: fmt.Sprint(i), expires: start.Unix() + 1}, start) {
				t.Fatal("the first use of a nonce was a replay")
			}
		}
		if a.nonces.Len() != MaxNonces {
			t.Errorf("%d nonces are stored", a.nonces.Len())
		}
	})
}
