package policy

// outcome finds what decides about the forms of a target, but for those in which some of
// without is done to it; any says that there are others. What servers make of dot segments,
// or of a path behind a scheme without a slash, are different paths and not spellings of
// one: a rule that allows one of them opens no other.
func (s *side) outcome(spellings []spelling, without Form, found *candidates, best *outcome) (allowed, any bool) {
	if len(spellings) == 1 || !arePaths(spellings) {
		any = s.match(spellings, without, found, best)
		return best.allowed(), any
	}
	allowed = true
	for len(spellings) > 0 {
		end := 1
		for end < len(spellings) && spellings[end].from > 0 { // it has the same path
			end++
		}
		var path outcome
		any = s.match(spellings[:end], without, found, &path) || any
		best.add(&path)
		allowed = allowed && path.allowed()
		spellings = spellings[end:]
	}
	return allowed, any
}

// match adds the rules that match some forms of a target, but for those in which some of
// without is done to it, to best. any says that there are others.
func (s *side) match(spellings []spelling, without Form, found *candidates, best *outcome) (any bool) {
	for i := range spellings {
		if x := &spellings[i]; !x.isLeftOut() && x.form&without == 0 {
			s.rules.match(x.text, x.form, found, best)
			any = true
		}
	}
	return any
}

// add records what decides about one of several paths: a rule that forbids it, or else one
// that allows it.
func (o *outcome) add(path *outcome) {
	if path.allowed() {
		o.take(true, path.allow.length, path.allow.rule, path.allow.form)
	} else {
		o.take(false, path.disallow.length, path.disallow.rule, path.disallow.form)
	}
}

// arePaths reports whether the forms of a target may be different paths.
func arePaths(spellings []spelling) bool {
	for i := range spellings {
		if spellings[i].form&(FormDots|FormOpaque) != 0 {
			return true
		}
	}
	return false
}
