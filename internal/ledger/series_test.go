package ledger

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestSeries compares series with a naive list of all requests, in and out of
// order, over gaps and after pruning.
func TestSeries(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 2))
		var series [numResolutions]Series
		var naive []int64
		at, latest := start.UnixMilli(), int64(0)
		for range 2000 {
			switch random.IntN(100) {
			case 0:
				at += random.Int64N(40 * 24 * time.Hour.Milliseconds())
			case 1, 2:
				at += random.Int64N(24 * time.Hour.Milliseconds())
			default:
				at += random.Int64N(2 * time.Minute.Milliseconds())
			}
			when := at
			if random.IntN(4) == 0 {
				when -= random.Int64N(3 * time.Hour.Milliseconds())
			}
			naive, latest = append(naive, when), max(latest, when)
			var cell RequestBucket
			cell[1+CountStale] = 1
			for r := range numResolutions {
				cell[0] = r.stepNumber(when)
				series[r].merge(r, Series{cell})
			}
		}
		for r := range numResolutions {
			series[r].prune(r, latest, MaxRetention)
			if n := len(series[r]); n > r.NumSteps() || cap(series[r]) > 2*r.NumSteps() {
				t.Fatalf("seed %d: %d steps of %v, at most %d are kept", seed, n, r.StepLength(), r.NumSteps())
			}
			for range 20 {
				step := r.StepLength().Milliseconds()
				from := latest/step*step - random.Int64N(int64(r.NumSteps()))*step
				to := from + random.Int64N(latest-from+1)
				want := uint64(0)
				for _, when := range naive {
					if when >= from && when/step <= to/step {
						want++
					}
				}
				sum := series[r].Sum(r, time.UnixMilli(from), time.UnixMilli(to))
				if sum[CountStale] != want || sum.TotalRequests() != want {
					t.Fatalf("seed %d: %d requests of %v from %d to %d, want %d", seed, sum[CountStale], r.StepLength(), from, to, want)
				}
			}
			for i := range series[r][1:] {
				if series[r][i][0] >= series[r][i+1][0] {
					t.Fatalf("seed %d: steps out of order", seed)
				}
			}
		}
	}
}

func TestSeriesEdges(t *testing.T) {
	full := RequestBucket{5, math.MaxUint32 - 1}
	s := Series{full}
	s.merge(Hours, Series{RequestBucket{5, 3, 1}})
	if s[0] != (RequestBucket{5, math.MaxUint32, 1}) {
		t.Errorf("a full count became %v", s[0])
	}
	s.merge(Hours, Series{RequestBucket{math.MaxUint32, 1}})
	if len(s) != 1 || s[0][0] != math.MaxUint32 {
		t.Errorf("the last step of all left %v", s)
	}
	// The clock was wrong and is right again.
	s.prune(Hours, 10*time.Hour.Milliseconds()+1, MaxRetention)
	s.merge(Hours, Series{RequestBucket{10, 1}})
	if len(s) != 1 || s[0][0] != 10 {
		t.Errorf("the future is still there: %v", s)
	}
	for _, at := range []int64{-1, math.MinInt64, 0} {
		if got := Minutes.stepNumber(at); got != 0 {
			t.Errorf("stepNumber(%d) = %d", at, got)
		}
	}
	if got := Minutes.stepNumber(math.MaxInt64); got != math.MaxUint32 {
		t.Errorf("step number at the end of time = %d", got)
	}
}
