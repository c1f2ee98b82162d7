package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// Use is a purpose for which a page can be used, such as training. Site owners state preferences
// about each use (draft-ietf-aipref-vocab-08).
type Use uint8

const (
	TrainAI   Use = iota // TrainAI is the training of a model that generates content.
	AIUse                // AIUse is the input of a model.
	SearchUse            // SearchUse is a search application.
	numUses              // numUses is the number of uses.
)

// useLabels are the names of the uses in Content-Usage lines. signalLabels are their names in
// Content-Signal lines (contentsignals.org).
var (
	useLabels    = [numUses]string{TrainAI: "train-ai", AIUse: "ai-use", SearchUse: "search"}
	signalLabels = [numUses]string{TrainAI: "ai-train", AIUse: "ai-input", SearchUse: "search"}
)

// AllUses returns the uses in the order of their constants.
func AllUses() []Use { return []Use{TrainAI, AIUse, SearchUse} }

// String returns the name of the use in Content-Usage lines, such as "train-ai".
func (u Use) String() string { return useLabels[u] }

// SignalLabel returns the name of the use in Content-Signal lines, such as "ai-train".
func (u Use) SignalLabel() string { return signalLabels[u] }

// formerLabels maps each label that earlier drafts defined and the current draft does not to the
// number of the last such draft.
var formerLabels = map[string]string{
	"tdm": "01", "ai": "01", "genai": "01", "inference": "01", "all": "02", "train-genai": "03", "bots": "04", "ai-output": "04",
}

// FormerLabelDraft returns the last draft that defined a label which the current draft does not
// define, such as "draft-ietf-aipref-vocab-01" for "genai". The result is "" for other labels.
func FormerLabelDraft(label string) (draft string) {
	if version, ok := formerLabels[label]; ok {
		draft = "draft-ietf-aipref-vocab-" + version
	}
	return draft
}

// Preference is whether a site owner allows a use. PreferenceUnknown, the zero value, states
// nothing.
type Preference uint8

const (
	PreferenceUnknown Preference = iota
	PreferenceYes                // The use is allowed.
	PreferenceNo                 // The use is not allowed.
)

// String returns "y", "n" or "unknown".
func (p Preference) String() string {
	switch p {
	case PreferenceYes:
		return "y"
	case PreferenceNo:
		return "n"
	}
	return "unknown"
}

// Combine combines two preferences about the same use: no if one is no, else yes if one is yes,
// else unknown (draft-ietf-aipref-vocab-08, "Combining Preferences").
func (p Preference) Combine(q Preference) Preference { return max(p, q) }

// Preferences has a Preference for each Use. In the zero value all are unknown.
type Preferences [numUses]Preference

// Combine combines the preferences about each use, see [Preference.Combine].
func (p Preferences) Combine(q Preferences) Preferences {
	for use := range p {
		p[use] = p[use].Combine(q[use])
	}
	return p
}

// ConflictingUse returns the first use about which one of p and q says yes and the other no. found
// is false if there is none.
func (p Preferences) ConflictingUse(q Preferences) (use Use, found bool) {
	for use := range p {
		if p[use] != PreferenceUnknown && q[use] != PreferenceUnknown && p[use] != q[use] {
			return Use(use), true
		}
	}
	return 0, false
}

// String returns the preferences as the value of a Content-Usage line, such as "train-ai=n,
// search=y", or "" if all are unknown.
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

// ParsePreferences parses the preferences in a Content-Usage line, such as "train-ai=n, search=y"
// (draft-ietf-aipref-vocab-08). The syntax is a dictionary of RFC 9651, so the last of equal keys
// applies. Unknown keys and parameters have no effect. A value other than y and n is unknown. For
// an invalid dictionary ParsePreferences returns an error and no preferences.
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

// ParseSignals parses the preferences in a Content-Signal line, such as "ai-train=no, search=yes".
// Other names and values have no effect. If a name occurs several times, its preferences are
// combined.
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

// These are the keys of lines with preferences.
const (
	ContentUsage  = "Content-Usage"  // draft-ietf-aipref-attach-05 section 3 defines ContentUsage.
	ContentSignal = "Content-Signal" // contentsignals.org defines ContentSignal.
)

// Statement is a line of a robots.txt that states preferences about the use of some or all pages.
type Statement struct {
	// Source is [ContentUsage] or [ContentSignal], the key of the line. For an allow or disallow
	// line, Source is the name of its group: [TrainingToken] or a control token.
	Source string
	Path   string // Path is the path pattern as written, or "" for all pages.
	Preferences
	Line int // Line is counted from 1.
}

// SplitUsagePath splits the value of a Content-Usage or Content-Signal line into the path, which is
// "" for a line about the whole site, and the preferences.
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
