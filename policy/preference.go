package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// Use is a category of use, by its label in Content-Usage
// (draft-ietf-aipref-vocab-08).
type Use uint8

const (
	TrainAI   Use = iota // training of a model that generates content
	AIUse                // input of a model
	SearchUse            // search application
	numUses              // number of categories
)

// useLabels are the labels of each Use in Content-Usage, and signalLabels in Content-Signal
// (contentsignals.org).
var (
	useLabels    = [numUses]string{TrainAI: "train-ai", AIUse: "ai-use", SearchUse: "search"}
	signalLabels = [numUses]string{TrainAI: "ai-train", AIUse: "ai-input", SearchUse: "search"}
)

// AllUses returns all categories of use.
func AllUses() []Use { return []Use{TrainAI, AIUse, SearchUse} }

// String returns the label of the category.
func (u Use) String() string { return useLabels[u] }

// SignalLabel returns the label of the category in Content-Signal.
func (u Use) SignalLabel() string { return signalLabels[u] }

// formerLabels are labels of earlier drafts that the current vocabulary lacks, with the last
// draft.
var formerLabels = map[string]string{
	"tdm": "01", "ai": "01", "genai": "01", "inference": "01", "all": "02", "train-genai": "03", "bots": "04", "ai-output": "04",
}

// FormerLabelDraft returns the last draft with a label that the current vocabulary lacks, or "".
func FormerLabelDraft(label string) (draft string) {
	if version, ok := formerLabels[label]; ok {
		draft = "draft-ietf-aipref-vocab-" + version
	}
	return draft
}

// Preference is a preference about a category of use. An unknown preference allows and
// disallows nothing.
type Preference uint8

const (
	PreferenceUnknown Preference = iota
	PreferenceYes                // the use is allowed
	PreferenceNo                 // the use is not allowed
)

// String returns y, n, or unknown.
func (p Preference) String() string {
	switch p {
	case PreferenceYes:
		return "y"
	case PreferenceNo:
		return "n"
	}
	return "unknown"
}

// Combine combines two preferences. Any no is a no, else any yes is a yes (draft-ietf-aipref-vocab-08,
// "Combining Preferences").
func (p Preference) Combine(q Preference) Preference { return max(p, q) }

// Preferences contains a preference for each category of use. The zero value has none.
type Preferences [numUses]Preference

// Combine combines two statements, category by category.
func (p Preferences) Combine(q Preferences) Preferences {
	for use := range p {
		p[use] = p[use].Combine(q[use])
	}
	return p
}

// ConflictingUse returns a use with opposite preferences.
func (p Preferences) ConflictingUse(q Preferences) (use Use, found bool) {
	for use := range p {
		if p[use] != PreferenceUnknown && q[use] != PreferenceUnknown && p[use] != q[use] {
			return Use(use), true
		}
	}
	return 0, false
}

// String returns the preferences as a Content-Usage value, or "".
func (p Preferences) String() string {
	var b strings.Builder
	for use, preference := range p {
		if preference == PreferenceUnknown {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(Use(use).String() + "=" + preference.String())
	}
	return b.String()
}

// ParsePreferences parses a dictionary of RFC 9651 as in draft-ietf-aipref-vocab-08. The last
// of equal keys applies. Parameters and unknown keys have no effect. A value other than y and
// n is unknown. An invalid dictionary has no preferences and returns an error.
func ParsePreferences(dictionary string) (p Preferences, err error) {
	members, err := httpsfv.UnmarshalDictionary([]string{dictionary})
	if err != nil {
		return p, fmt.Errorf("%q is not a dictionary such as train-ai=n, search=y: %w", dictionary, err)
	}
	for use := range p {
		member, _ := members.Get(Use(use).String())
		item, _ := member.(httpsfv.Item)
		switch item.Value {
		case httpsfv.Token("y"):
			p[use] = PreferenceYes
		case httpsfv.Token("n"):
			p[use] = PreferenceNo
		}
	}
	return p, nil
}

// ParseSignals parses the value of a Content-Signal line after its path. ai-train, ai-input
// and search can be yes or no. Other parts are ignored.
func ParseSignals(list string) (p Preferences) {
	for part := range strings.SplitSeq(list, ",") {
		label, value, _ := strings.Cut(part, "=")
		use := slices.Index(signalLabels[:], strings.ToLower(trimSpace(label)))
		if use < 0 {
			continue
		}
		switch strings.ToLower(trimSpace(value)) {
		case "yes":
			p[use] = p[use].Combine(PreferenceYes)
		case "no":
			p[use] = PreferenceNo
		}
	}
	return p
}

// The keys of lines with preferences.
const (
	ContentUsage  = "Content-Usage"  // draft-ietf-aipref-attach-05 section 3
	ContentSignal = "Content-Signal" // contentsignals.org
)

// Statement is a line of a robots.txt with preferences.
type Statement struct {
	// Source is [ContentUsage], [ContentSignal], or the name of the group for a rule:
	// [TrainingToken] or a control token.
	Source string
	Path   string // as written; "" for all targets
	Preferences
	Line int // counted from 1
}

// SplitUsagePath splits the value of a Content-Usage or Content-Signal line into its path, which
// can be "", and its preferences.
func SplitUsagePath(value string) (path, dictionary string) {
	if !strings.HasPrefix(value, "/") {
		return "", value
	}
	end := strings.IndexAny(value, " \t")
	if end < 0 {
		return value, ""
	}
	return value[:end], trimSpace(value[end:])
}
