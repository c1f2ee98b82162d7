package uaident

// Purposes is what the operator of a crawler says it fetches pages for.
type Purposes struct {
	// Of are all that it names, 0 where nobody has looked or it does not say.
	Of PurposeSet
	// Source is the page that says so.
	Source string
}

// PurposeSet is a set of purposes.
type PurposeSet uint8

// The purposes. registry.json has their words.
const (
	ForTraining PurposeSet = 1 << iota // "training": to train models that generate content
	ForSearch                          // "search": for a search application
	ForAIUse                           // "ai_use": as the input of a model
	ForOthers                          // "others": for whoever takes what it has collected, or for anything else
)

var purposeWords = []string{"training", "search", "ai_use", "others"}

// Words returns the words of the set that registry.json has, nil for none.
func (s PurposeSet) Words() (words []string) {
	for i, word := range purposeWords {
		if s&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	return words
}
