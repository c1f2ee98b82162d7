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

// IsMixed reports whether there are several.
func (s PurposeSet) IsMixed() bool { return s&(s-1) != 0 }

// TrainsOnly reports whether training models is all that the crawler fetches for, by
// its operator's own page. That its class is [AITraining] is not enough: many of these
// feed a search as well, or do not say. It does not hold for a crawler that the owner
// of a server has put into another class.
func (c *Crawler) TrainsOnly() bool {
	return c != nil && c.Class == AITraining && c.Provenance == Documented && !c.UserTriggered &&
		c.Purposes.Of == ForTraining && c.Purposes.Source != ""
}
