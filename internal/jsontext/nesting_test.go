package jsontext

import "testing"

func TestNesting(t *testing.T) {
	for text, want := range map[string][2]int{
		"":                                    {},
		`[]`:                                  {0, 1},
		`{"a":[{},[1,true,false,null,-1e3]]}`: {3, 2},
		`[null,null]`:                         {2, 1},
		`["{[null\"[{","\\",{}]`:              {1, 1},
		`["`:                                  {0, 1},
		`["\`:                                 {0, 1},
	} {
		if objects, arrays := CountContainers([]byte(text)); objects != want[0] || arrays != want[1] {
			t.Errorf("%s: %d objects and %d arrays, want %v", text, objects, arrays, want)
		}
	}
}
