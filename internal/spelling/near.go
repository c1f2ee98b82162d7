package spelling

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
