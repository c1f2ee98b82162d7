package text

import (
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Letters drops what people write differently: case, and what parts words.
func Letters(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -_.!", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// Among reports whether a name is one of some but for case.
func Among(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// Distance returns how many bytes have to be put in, left out, replaced or swapped
// with their neighbour to make b of a (the Damerau-Levenshtein distance in which no
// part is edited twice); most if it is that many or more.
func Distance(a, b string, most int) int {
	var room [3][64]int // enough for most names
	rows := [3][]int{}
	for i := range rows {
		if rows[i] = room[i][:]; len(b) >= len(room[i]) {
			rows[i] = make([]int, len(b)+1)
		}
	}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, now := rows[(i+2)%3], rows[(i)%3], rows[(i+1)%3]
		now[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
			least = min(least, now[j])
		}
		if least >= most {
			return most
		}
	}
	return min(most, rows[(len(a)+1)%3][len(b)])
}

// Swapped reports whether two neighbours in a, and nothing else, have to change
// places to make b of it.
func Swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) - 1 {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}

// Set returns which bytes a name has, each as one of 32 bits, so that [Edits] can tell most
// names that are far from each other without comparing them.
func Set(name string) (bytes uint32) {
	for i := range len(name) {
		bytes |= 1 << (name[i] & 31)
	}
	return bytes
}

// Edits returns how many edits there are at least, as [Distance] counts them, between names
// with these sets: one replaces a byte by another at most.
func Edits(a, b uint32) int { return (bits.OnesCount32(a^b) + 1) / 2 }

// Near returns the word that a misspelt one is most likely meant to be, "" if none
// is near. Short words are near to too many others.
func Near(misspelt string, words []string) string {
	folded := Letters(misspelt)
	most := min(3, (len(folded)+3)/4) // edits
	if len(folded) < 3 {
		most = 0
	}
	best, least := "", most+1
	for _, word := range words {
		if d := Distance(folded, Letters(word), least); d < least {
			best, least = word, d
		}
	}
	return best
}

// NearFile returns the file beside one that is not there whose name is near, with the same
// directory as is written, "" if there is none.
func NearFile(path string) string {
	directory, name := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(directory + "."))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	if near := Near(name, names); near != "" {
		return directory + near
	}
	return ""
}
