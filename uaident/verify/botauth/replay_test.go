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
	s.created(start.Add(time.Second)) // another signature
	expect(t, f.Check(s.sign()), Verified)

	s.created(start.Add(2 * time.Second)) // and another, with a nonce that was used
	expect(t, f.Check(s.sign()), Replayed)

	s.param("nonce", "")
	for range 2 {
		expect(t, f.Check(s.sign()), Verified) // the drafts allow it, and nothing tells them apart,
	}
	f.clock.add(5*time.Minute + 3*time.Second)
	expect(t, f.Check(s.sign()), NonceMissing) // so not for long, though it does not expire for an hour

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
			t.Errorf("%d were valid", valid.Load())
		}
	})
	t.Run("memory is bounded", func(t *testing.T) {
		a := newAgent(testAgent, testOperator)
		for i := range 2 * MaxNonces {
			if !a.isFirstUse(parameters{keyID: "k", nonce: fmt.Sprint(i), expires: start.Unix() + 1}, start) {
				t.Fatal("a first use was taken for a second one")
			}
		}
		if a.nonces.Len() != MaxNonces {
			t.Errorf("%d nonces are kept", a.nonces.Len())
		}
	})
}
