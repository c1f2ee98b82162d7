package main

import "testing"

func TestEstimate(t *testing.T) {
	same := [][]float64{{1, 1.01, 0.99}, {1, 1.01, 0.99}, {1, 1.01, 0.99}, {1, 1.01, 0.99}}
	apart := [][]float64{{0.9, 0.9, 0.9}, {1, 1, 1}, {1, 1, 1}, {1.1, 1.1, 1.1}}
	for _, test := range []struct {
		name      string
		groups    [][]float64
		want      float64
		low, high float64 // bounds of the interval
		widest    float64 // minimum width of the interval
	}{
		{"equal groups", same, 1, 0.99, 1.01, 0},
		{"different groups", apart, 1, 0.9, 1.1, 0.1},
		{"too few groups return the range", apart[:2], 0.95, 0.9, 1, 0.09},
		{"no groups", nil, 0, 0, 0, 0},
		{"an empty group", [][]float64{nil}, 0, 0, 0, 0},
	} {
		got := estimateOf(test.groups)
		if abs(got.middle-test.want) > 1e-9 || got.low < test.low || got.high > test.high || got.high-got.low < test.widest {
			t.Errorf("%s: %+v", test.name, got)
		}
		if got != estimateOf(test.groups) {
			t.Errorf("%s: a second estimate of the same figures differs", test.name)
		}
	}
}

func abs(f float64) float64 { return max(f, -f) }
