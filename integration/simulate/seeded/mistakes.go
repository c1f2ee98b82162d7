package main

// mistakes are those that a programmer might make: each is a line or two that is
// forgotten, or another number or condition. Numbers in reports count from 1.
var mistakes = []mistake{
	{
		"nobody is given grace", "internal/guard/following.go",
		"		if len(state.Held(now, time.Time{}, grace)) == 0 {",
		"		if true {",
	},
	{
		"the grace is half a day", "policy/lifetime.go",
		"now.Sub(v.Until) >= grace ||",
		"now.Sub(v.Until) >= grace/2 ||",
	},
	{
		"the grace has no end", "policy/lifetime.go",
		"now.Sub(v.Until) >= grace ||",
		"",
	},
	{
		"who has read the text in force has grace", "internal/guard/following.go",
		"		knows := recent && (isLast(state.Good) || slices",
		"		knows := recent && (slices",
	},
	{
		"what a crawler was served does not count", "internal/guard/served.go",
		"	if !waits {\n		until = now\n	}",
		"	if true {\n		return nil, false\n	}",
	},
	{
		"a crawler is its name, whatever its network", "internal/guard/reading.go",
		"Network: addr.Network(request.ClientAddr(r)), Invented: !j.Site.Named}",
		"Invented: !j.Site.Named}",
	},
	{
		"readings do not come over from others", "internal/ledger/readers_document.go",
		"	if ok && !known.At.Before(x.At) ||",
		"	if elsewhere || ok && !known.At.Before(x.At) ||",
	},
	{
		"own readings are not known again", "internal/ledger/readers_document.go",
		"	if ok && !known.At.Before(x.At) ||",
		"	if !elsewhere || ok && !known.At.Before(x.At) ||",
	},
	{
		"404 is a failure", "policy/answer.go",
		"		return Unavailable",
		"		return Unreachable",
	},
	{
		"503 is no file", "policy/answer.go",
		"	case a.Err != nil || a.Status < 200:",
		"	case a.Status == 503:\n		return Unavailable\n	case a.Err != nil || a.Status < 200:",
	},
	{
		"a failure drops the copy", "policy/lifetime.go",
		"if age < MaxAge || s.Failures == 0 || lasts && age < MaxUnreachable {",
		"if s.Failures == 0 || lasts && age < 0 && age < MaxAge {",
	},
	{
		"a failure closes the site", "policy/lifetime.go",
		"	return nil, choice == DisallowAll && failing",
		"	return nil, choice == LastGood || choice == DisallowAll && failing",
	},
	{
		"one request in a hundred is not counted", "internal/ledger/ledger.go",
		"	b := l.locked()\n	b.add(q",
		"	if q.At.UnixNano()%97 == 0 {\n		return\n	}\n	b := l.locked()\n	b.add(q",
	},
	{
		"versions before are not known again", "policy/restore.go",
		"		next.Good, next.Past = o, other.Past",
		"		next.Good, next.Past = o, nil",
	},
	{
		"versions do not come over from others", "policy/restore.go",
		"	all := slices.Concat(past, olderPast)",
		"	if len(past) > 0 {\n		return current, past\n	}\n	all := slices.Concat(past, olderPast)",
	},
	{
		"another answer makes nothing due", "internal/guard/reading.go",
		"		entry.MarkSuspect(now)\n	}\n	if j != nil",
		"	}\n	if j != nil",
	},
	{
		"the file is not read before a block", "internal/guard/refresh.go",
		"	if state == nil || state.Good == nil || j.Identity",
		"	if true || state == nil || state.Good == nil || j.Identity",
	},
	{
		"a reading ends with the grace of its text", "internal/guard/served.go",
		"now.Sub(from) < grace {",
		"now.Sub(v.Until) < grace {",
	},
	{
		"a copy never is too old", "policy/entry.go",
		"	if s == nil || !now.Before(s.Due) {",
		"	if s == nil {",
	},
	{
		"the change guard never lets go", "internal/guard/changeguard.go",
		"	return slices.ContainsFunc(g.holds(j.Site, state), func",
		"	if g.ChangeGuard > 0 {\n		return true\n	}\n	return slices.ContainsFunc(g.holds(j.Site, state), func",
	},
	{
		"a verified crawler is another one at each network", "internal/guard/reading.go",
		"	for _, reader := range who {\n		if last, ok",
		"	for _, reader := range who[len(who)-1:] {\n		if last, ok",
	},
	{
		"only the version just before has grace", "policy/lifetime.go",
		"	}\n	return s.Past\n}",
		"	}\n	return s.Past[:min(1, len(s.Past))]\n}",
	},
	{
		"429 is no file", "policy/answer.go",
		"		return Refused",
		"		return Unavailable",
	},
	{
		"a crawler gets no longer than others by its operator's word", "internal/judge/grace.go",
		"	return max(all, client.RobotsLag().Most)",
		"	return all",
	},
	{
		"a version of others is no news where as many are known as are kept", "policy/restore.go",
		"!isNews(next.Past, before.Past)",
		"len(next.Past) == len(before.Past)",
	},
	{
		"a version that comes back elsewhere is taken for known", "internal/store/readers.go",
		"!state.KnowsAt(read.Hash, read.At)",
		"!state.KnowsAt(read.Hash, time.Time{})",
	},
	{
		"what shuts a search engine out waits for nobody", "internal/publication/steps.go",
		"	if len(in.Reasons) > 0 {\n		s.Candidate.Stage",
		"	if false {\n		s.Candidate.Stage",
	},
	{
		"a reload publishes what was rolled back", "internal/publication/state.go",
		"	if in.ID == s.Latest {",
		"	if in.ID != s.PublishedID() {\n\t\treturn true\n\t}\n\tif in.ID == s.Latest {",
	},
	{
		"the history is read once and never again", "internal/release/run.go",
		"		case <-timer.C:\n		}\n		_, err = r.store.Read(ctx)",
		"		case <-timer.C:\n		}\n		err = nil",
	},
	{
		"a history that was read last is taken for the latest", "internal/publication/store.go",
		"s.last.data != nil && bytes.Equal(data, s.last.data)",
		"len(data) == len(s.last.data)",
	},
	{
		"a longer delay counts for who has not read it", "internal/guard/rate.go",
		"		if g.delayBy(r, j, before).Every >= known.Every {",
		"		if true || g.delayBy(r, j, before).Every >= known.Every {",
	},
	{
		"who is too fast gets its page", "internal/rate/budgets.go",
		"		pace.Slowed = stops",
		"		pace.Slowed = pace.Full && stops",
	},
	{
		"four redirects are followed", "policy/answer.go",
		"const MaxRedirects = 5",
		"const MaxRedirects = 4",
	},
	{
		"six redirects are followed", "policy/answer.go",
		"const MaxRedirects = 5",
		"const MaxRedirects = 6",
	},
	{
		"a redirect that leads nowhere is a failure", "policy/answer.go",
		"	case a.Err != nil || a.Status < 200:",
		"	case a.Err != nil || a.Status < 200 || a.Status/100 == 3 && a.Status != 304:",
	},
	{
		"where a robots.txt redirects to is a page like others", "internal/judge/judge.go",
		"	case q.DecodedPath() == robotsTxt, len(rules.Via) > 0",
		"	case q.DecodedPath() == robotsTxt, len(rules.Via) > 9",
	},
	{
		"where a robots.txt redirects to that fails is not known", "policy/lifetime.go",
		"len(next.Via) == 0 {",
		"true {",
	},
	{
		"who is redirected knows what it has read before", "internal/guard/reading.go",
		"return isRedirect(read.Status) })",
		"return false })",
	},
	{
		"who was led to a file that nobody can read is held to the copy", "internal/guard/verdict.go",
		"j.Verdict == judge.Disallowed && g.followsRedirect(r, j, entry, now)",
		"false",
	},
	{
		"a search engine is slowed twice as often", "internal/rate/slowing.go",
		"slowingShare = 20 ",
		"slowingShare = 10 ",
	},
	{
		"a search engine is slowed without end", "internal/rate/slowing.go",
		"case began != 0 && now-began >= slowingDay:",
		"case false:",
	},
	{
		"a place is not given back", "internal/rate/places.go",
		"	p.taken.Add(-1)\n	if all := p.all.Load(); all != nil {",
		"	if all := p.all.Load(); all != nil {",
	},
	{
		"a search engine is shed", "internal/rate/load.go",
		"uaident.GenericCrawler, uaident.Archive, uaident.Research)\n}",
		"uaident.GenericCrawler, uaident.Archive, uaident.Research, uaident.Search)\n}",
	},
	{
		"load never ends", "internal/rate/load.go",
		"	return lasted, l.began.CompareAndSwap(began, 0)",
		"	return lasted, false",
	},
	{
		"who is too fast is told to wait for half as long", "internal/rate/budget.go",
		"	return max(0, pace.Ahead(now)-(burst-1)*r.Interval)",
		"	return max(0, pace.Ahead(now)-(burst-1)*r.Interval) / 2",
	},
	{
		"an owner's limit is divided whatever was asked", "internal/rate/budget.go",
		"		if own+others > owner.most(span) {",
		"		if own+others > 0 {",
	},
	{
		"where the robots.txt of another site redirects to is a page like others", "internal/guard/abroad.go",
		"	place := urlOf(j.Site.Own().Host, j.Site.Own().Secure, j.Target)\n",
		"	if true {\n		return false\n	}\n	place := urlOf(j.Site.Own().Host, j.Site.Own().Secure, j.Target)\n",
	},
}
