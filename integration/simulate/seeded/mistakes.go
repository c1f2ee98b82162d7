package main

// mistakes are plausible programming mistakes: a line or two is missing, or a number or
// a condition is wrong. Numbers in reports start at 1.
var mistakes = []mistake{
	{
		"a file counts for half of the grace", "internal/copies/files.go",
		"now.Sub(last) < grace+f.ProxyTime",
		"now.Sub(last) < grace/2+f.ProxyTime",
	},
	{
		"a file counts without end", "internal/copies/files.go",
		"last.After(graceEnded) && now.Sub(last) < grace+f.ProxyTime",
		"last.After(graceEnded)",
	},
	{
		"a file that was a copy does not count", "internal/copies/files.go",
		"within(f.LastCopied) || token",
		"token",
	},
	{
		"a file that was served does not count", "internal/copies/files.go",
		"token != \"\" && (within(f.Served[token])",
		"token == \"?\" && (within(f.Served[token])",
	},
	{
		"files of other instances are not known", "internal/store/copies.go",
		"\tif v.isOwn || !(policy.Key",
		"\tif v.isOwn && !(policy.Key",
	},
	{
		"a longer delay counts at once", "internal/guard/rate.go",
		"asked.Interval < known.Interval",
		"asked.Interval < 0",
	},
	{
		"where the robots.txt of another site redirects to is a page like others", "internal/guard/redirect.go",
		"g.state.redirectTargets.Len() == 0",
		"true",
	},
	{
		"404 is a failure", "policy/fetch_result.go",
		"		return Unavailable",
		"		return Unreachable",
	},
	{
		"503 is no file", "policy/fetch_result.go",
		"	case a.Err != nil || a.Status < 200:",
		"	case a.Status == 503:\n		return Unavailable\n	case a.Err != nil || a.Status < 200:",
	},
	{
		"a failure drops the copy", "policy/state.go",
		"if age < MaxAge || useLastGood && age < MaxUnreachable {",
		"if useLastGood && age < 0 && age < MaxAge {",
	},
	{
		"one request in a hundred is not counted", "internal/ledger/ledger.go",
		"	b := l.lockBuffer()\n	b.addRequest(q",
		"	if q.At.UnixNano()%97 == 0 {\n		return\n	}\n	b := l.lockBuffer()\n	b.addRequest(q",
	},
	{
		"the file is not read before a block", "internal/guard/lookup.go",
		"	if !l.entry.IsPossiblyChanged() && l.now.Sub(",
		"	if true || !l.entry.IsPossiblyChanged() && l.now.Sub(",
	},
	{
		"a copy never is too old", "policy/entry.go",
		"	if s == nil || !now.Before(s.NextFetch) {",
		"	if s == nil {",
	},
	{
		"429 is no file", "policy/fetch_result.go",
		"		return TooManyRequests",
		"		return Unavailable",
	},
}
