package uaident

// Purposes are the documented purposes for which an operator uses fetched pages.
type Purposes struct {
	// Set is the set of all documented purposes. 0 means that no purpose is documented, or that
	// the documentation was not checked.
	Set PurposeSet
	// Source is the URL of the documentation.
	Source string
}

// PurposeSet is a set of purposes.
type PurposeSet uint8

// These are the purposes, with their names in registry.json.
const (
	PurposeTraining PurposeSet = 1 << iota // The name is "training": training of generative models.
	PurposeSearch                          // The name is "search": search applications.
	PurposeAIUse                           // The name is "ai_use": input of a trained AI model.
	PurposeOther                           // The name is "others": resale of the data, or any other use.
)

var purposeNames = []string{"training", "search", "ai_use", "others"}

// Names returns the names of the purposes in registry.json, or nil for an empty set.
func (s PurposeSet) Names() (names []string) {
	for i, name := range purposeNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
