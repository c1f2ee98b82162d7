package main

import "testing"

// TestMistakes checks that each mistake still applies to its file.
func TestMistakes(t *testing.T) {
	t.Chdir("../../..")
	for _, m := range mistakes {
		if _, err := m.apply(); err != nil {
			t.Errorf("%s: %v", m.what, err)
		}
	}
}
