package uaident

import (
	"slices"
	"testing"
)

func TestPurposeSetWords(t *testing.T) {
	for set, want := range map[PurposeSet][]string{
		0: nil, ForSearch: {"search"}, ForTraining | ForOthers: {"training", "others"}, ForTraining | ForSearch | ForAIUse | ForOthers: purposeWords,
	} {
		if got := set.Words(); !slices.Equal(got, want) {
			t.Errorf("the words of %b are %q, want %q", set, got, want)
		}
	}
}
