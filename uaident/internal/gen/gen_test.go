package main

import (
	"bytes"
	"os"
	"testing"
)

func TestTablesAreUpToDate(t *testing.T) {
	want, err := Generate("../..")
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../tables_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Error("tables_gen.go is out of date; run go generate ./uaident")
	}
}
