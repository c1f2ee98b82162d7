package jsontext

import "testing"

// TestPeek checks that the offset is that of the next token, also after white space.
func TestPeek(t *testing.T) {
	d, err := NewDecoder("a.json", []byte(" \n[ 1,\t2 ] "), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		first  byte
		offset int
	}{{'[', 2}, {'1', 4}, {'2', 7}, {']', 9}, {0, 11}} {
		if first, offset := d.Peek(); first != want.first || offset != want.offset {
			t.Errorf("got %q at %d, want %q at %d", first, offset, want.first, want.offset)
		}
		d.Next()
	}
}
