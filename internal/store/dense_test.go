package store

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestDenseValues moves values aside that would need 200 times their size in memory, before they are
// decoded.
func TestDenseValues(t *testing.T) {
	dense := strings.Repeat("{},", 300_000) + "{}"
	absent := strings.Repeat("null,", 200_000) + "null"
	policy := func(content string) string {
		return fmt.Sprintf(`{"format":2,"sha256":"%x","policy":%s}`, sha256.Sum256([]byte(content)), content)
	}
	changes := func(content string) string {
		return fmt.Sprintf(`{"format":3,"saved":"2026-11-21T12:00:00Z","sha256":"%x","content":%s}`, sha256.Sum256([]byte(content)), content)
	}
	for _, tc := range []struct{ kind, name, text string }{
		{kindPolicies, "a.json", policy(`{"host":"a.test","past":[` + dense + `]}`)},
		{kindPolicies, "a.json", policy(`{"host":"a.test","past":[` + absent + `]}`)},
		{kindPolicies, "base-a.json", policy(`{"host":"a.test","past":[` + dense + `]}`)},
		{kindChanges, "a.json", changes(`{"host":"a.test","visits":[` + dense + `]}`)},
		{kindNotes, "ranges.json", `{"version":1,"lists":[` + dense + `]}`},
		{kindNotes, "acknowledged.json", `{"version":1,"acknowledged":[` + absent + `]}`},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			m := storetest.New()
			m.Values[rootDir+"/peer/"+tc.kind+"/"+tc.name] = []byte(tc.text)
			i := newInstance(m, "ours", noon)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			i.Read(t.Context())
			runtime.ReadMemStats(&after)
			if n := i.observed.reads(tc.kind, resultSetAside); n != 1 {
				t.Errorf("%d values were set aside, want 1", n)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
				t.Errorf("to read %d KiB took %d MiB", len(tc.text)>>10, took>>20)
			}
		})
	}
}
