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

// training is [Robots.Training], compiled.
func (r *Robots) training() *choice {
	if len(r.trainers) == 0 {
		return nil
	}
	return r.choice([]byte(trainingKey), r.trainers)
}

// Training returns the merged groups of [TrainingToken], or nil.
func (r *Robots) Training() *Selection {
	if c := r.training(); c != nil {
		return &c.selection
	}
	return nil
}

// stated returns the training preference in the rules of a group. A target without a matching
// rule has no preference. The * group is ignored, because it is not written as a preference.
func (r *Robots) stated(c *choice, t *Target) (s Statement, ok bool) {
	if c == nil {
		return s, false
	}
	group := Selection{forgiving: side{c, c.extensionsIgnored}, strict: side{c, c.extensionsIgnored}}
	v := group.JudgeTarget(t)
	if v.Rule.Line == 0 {
		return s, false
	}
	s = Statement{By: v.Group.Name, Path: v.Rule.Path, Line: v.Rule.Line}
	s.Preferences[TrainAI] = PreferenceNo
	if v.Allowed {
		s.Preferences[TrainAI] = PreferenceYes
	}
	return s, true
}
