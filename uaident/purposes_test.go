package uaident

import (
	"slices"
	"testing"
)

func TestPurposeSetWords(t *testing.T) {
	for set, want := range map[PurposeSet][]string{
		0: nil, PurposeSearch: {"search"}, PurposeTraining | PurposeOther: {"training", "others"}, PurposeTraining | PurposeSearch | PurposeAIUse | PurposeOther: purposeNames,
	} {
		if got := set.Names(); !slices.Equal(got, want) {
			t.Errorf("the words of %b are %q, want %q", set, got, want)
		}
	}
}
