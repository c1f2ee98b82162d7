package uaident

// Purposes lists the uses of the fetched pages, by the operator's documentation.
type Purposes struct {
	// Set is the set of all documented purposes. 0 means that no purpose is documented, or that
	// the documentation was not checked.
	Set PurposeSet
	// Source is the URL of the documentation.
	Source string
}

// PurposeSet is a set of purposes.
type PurposeSet uint8

// The purposes, with their names in registry.json.
const (
	PurposeTraining PurposeSet = 1 << iota // "training": training of generative models
	PurposeSearch                          // "search": a search application
	PurposeAIUse                           // "ai_use": input of a model
	PurposeOther                           // "others": resale of the data, or any other use
)

var purposeWords = []string{"training", "search", "ai_use", "others"}

// Names returns the names of the purposes in registry.json, or nil for an empty set.
func (s PurposeSet) Names() (words []string) {
	for i, word := range purposeWords {
		if s&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	return words
}
