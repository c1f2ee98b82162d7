package text

import (
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FoldSpelling returns a name in lower case, without spaces and the characters - _ . and !
func FoldSpelling(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -_.!", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// ContainsFold reports whether a name is in a list, ignoring case.
func ContainsFold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// EditDistance returns the number of edits from a to b, or limit if there are as many or more. An
// edit inserts, removes or replaces a byte, or swaps two adjacent bytes, and no byte is edited
// twice (optimal string alignment).
func EditDistance(a, b string, limit int) int {
	var buffers [3][64]int // This is enough for most names.
	rows := [3][]int{}
	for i := range rows {
		if rows[i] = buffers[i][:]; len(b) >= len(buffers[i]) {
			rows[i] = make([]int, len(b)+1)
		}
	}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		beforePrevious, previous, current := rows[(i+2)%3], rows[(i)%3], rows[(i+1)%3]
		current[0] = i
		rowMin := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], beforePrevious[j-2]+1)
			}
			rowMin = min(rowMin, current[j])
		}
		if rowMin >= limit {
			return limit
		}
	}
	return min(limit, rows[(len(a)+1)%3][len(b)])
}

// IsTransposition reports whether a becomes b by swapping two adjacent bytes.
func IsTransposition(a, b string) bool {
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

// ByteSet returns the set of the bytes in a name, each mapped to one of 32 bits. By comparing two
// sets, [MinEdits] excludes most names without computing an edit distance.
func ByteSet(name string) (bytes uint32) {
	for i := range len(name) {
		bytes |= 1 << (name[i] & 31)
	}
	return bytes
}

// MinEdits returns a lower bound of the [EditDistance] between two names, from their byte sets. An
// edit replaces at most one byte by another byte.
func MinEdits(a, b uint32) int { return (bits.OnesCount32(a^b) + 1) / 2 }

// Nearest returns the word that is most similar to a misspelt word, or "" if no word is similar. A
// misspelt word of one or two letters matches only if [FoldSpelling] makes both equal, because it
// is similar to too many words.
func Nearest(misspelt string, words []string) string {
	folded := FoldSpelling(misspelt)
	maxEdits := min(3, (len(folded)+3)/4)
	if len(folded) < 3 {
		maxEdits = 0
	}
	best, bestDistance := "", maxEdits+1
	for _, word := range words {
		if d := EditDistance(folded, FoldSpelling(word), bestDistance); d < bestDistance {
			best, bestDistance = word, d
		}
	}
	return best
}

// NearestFile returns a file whose name is similar to that of a missing file in the same directory,
// or "". The result has the same directory as path.
func NearestFile(path string) string {
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
	if near := Nearest(name, names); near != "" {
		return directory + near
	}
	return ""
}
