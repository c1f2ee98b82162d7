package policy

// TrainingToken is the name of a group whose rules are preferences about training. A disallow
// rule means train-ai=n, an allow rule train-ai=y
// (draft-kelley-aipref-training-preference-signal-00). No crawler has this name, so no
// crawler selects the group.
const TrainingToken = "__usage_ai-training"

// IsTraining reports whether the name in a user-agent line is [TrainingToken].
func IsTraining(name string) bool { return NameMatches(name, TrainingToken) }

// trainingKey is the key of the training group in groupCache. No product token is equal, because
// the tokens in groupCache have no capital letters.
const trainingKey = "TRAINING"

// compiledTrainingGroup returns the compiled groups of [TrainingToken], or nil.
func (r *Robots) compiledTrainingGroup() *compiledGroup {
	if len(r.trainingAgents) == 0 {
		return nil
	}
	return r.getOrCompileGroup([]byte(trainingKey), r.trainingAgents)
}

// TrainingGroup returns the group whose rules are preferences about training, merged from all
// groups with the name [TrainingToken]. The result is nil if the file has none.
func (r *Robots) TrainingGroup() *SelectedGroup {
	if c := r.compiledTrainingGroup(); c != nil {
		return &c.selection
	}
	return nil
}

// trainingPreference returns the training preference that the rules of a group state about a
// target. ok is false if no rule matches the target, or if c is nil. The caller must not pass the *
// group, whose rules are not written as preferences.
func (r *Robots) trainingPreference(c *compiledGroup, t *Target) (s Statement, ok bool) {
	if c == nil {
		return s, false
	}
	group := SelectedGroup{lenient: interpretation{c, c.extensionsIgnored}, strict: interpretation{c, c.extensionsIgnored}}
	v := group.JudgeTarget(t)
	if v.Rule.Line == 0 {
		return s, false
	}
	s = Statement{Source: v.Group.Name, Path: v.Rule.Path, Line: v.Rule.Line}
	s.Preferences[TrainAI] = PreferenceNo
	if v.Allowed {
		s.Preferences[TrainAI] = PreferenceYes
	}
	return s, true
}
