package policy

// TrainingToken is the name of a group whose rules are preferences about training. A disallow
// rule means train-ai=n, an allow rule train-ai=y
// (draft-kelley-aipref-training-preference-signal-00). No crawler has this name, so no
// crawler selects the group.
const TrainingToken = "__usage_ai-training"

// IsTraining reports whether a group's name is [TrainingToken].
func IsTraining(name string) bool { return NameMatches(name, TrainingToken) }

// trainingKey is the key of the group among compiled groups. A folded token has no capital.
const trainingKey = "TRAINING"

// compiledTrainingGroup is [Robots.TrainingGroup], compiled.
func (r *Robots) compiledTrainingGroup() *compiledGroup {
	if len(r.trainingAgents) == 0 {
		return nil
	}
	return r.getOrCompileGroup([]byte(trainingKey), r.trainingAgents)
}

// TrainingGroup returns the merged groups of [TrainingToken], or nil.
func (r *Robots) TrainingGroup() *SelectedGroup {
	if c := r.compiledTrainingGroup(); c != nil {
		return &c.selection
	}
	return nil
}

// trainingPreference returns the training preference in the rules of a group. A target without a matching
// rule has no preference. The * group is ignored, because it is not written as a preference.
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
