package policy

// outcome finds what decides about the forms of a target. Forms to which something of
// without was done are left out; compared says that some were not. What servers make of dot
// segments, or of a path behind a scheme without a slash, are different paths and not
// spellings of one: a rule that allows one of them opens no other.
func (s *side) outcome(spellings []spelling, without Form, work *search, best *outcome) (allowed, compared bool) {
	if len(spellings) == 1 || !arePaths(spellings) {
		compared = s.match(spellings, without, work, best)
		return best.allowed(), compared
	}
	allowed = true
	for len(spellings) > 0 {
		end := 1
		for end < len(spellings) && spellings[end].samePath > 0 {
			end++
		}
		var path outcome
		compared = s.match(spellings[:end], without, work, &path) || compared
		best.add(&path)
		allowed = allowed && path.allowed()
		spellings = spellings[end:]
	}
	return allowed, compared
}

// match adds the rules that match some forms of a target to best. without and compared are
// as for outcome.
func (s *side) match(spellings []spelling, without Form, work *search, best *outcome) (compared bool) {
	for i := range spellings {
		if x := &spellings[i]; !x.isLeftOut() && x.form&without == 0 {
			s.rules.match(x.text, x.form, work, best)
			compared = true
		}
	}
	return compared
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
