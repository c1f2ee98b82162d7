package policy

// outcome finds the rules that decide the forms of a target. It skips forms with an operation
// of without. compared reports that not all forms were skipped. Resolved dot segments, and a
// path after a scheme without a slash, are different paths. A rule that allows one of them
// does not allow the others.
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

// match adds the rules that match some forms of a target to best. See outcome for without and
// compared.
func (s *side) match(spellings []spelling, without Form, work *search, best *outcome) (compared bool) {
	for i := range spellings {
		if x := &spellings[i]; !x.isLeftOut() && x.form&without == 0 {
			s.rules.match(x.text, x.form, work, best)
			compared = true
		}
	}
	return compared
}

// add adds the result of one of several paths. A disallow rule takes precedence over an allow
// rule.
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
