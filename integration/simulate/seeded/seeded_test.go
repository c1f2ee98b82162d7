package main

import "testing"

// TestMistakes fails if a mistake cannot be put into its file any more.
func TestMistakes(t *testing.T) {
	t.Chdir("../../..")
	for _, m := range mistakes {
		if _, err := m.apply(); err != nil {
			t.Errorf("%s: %v", m.what, err)
		}
	}
}
