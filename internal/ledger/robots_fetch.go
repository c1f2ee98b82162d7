package ledger

// RobotsFetch is a crawler's request for robots.txt with the response.
type RobotsFetch struct {
	At      int64   `json:"at"` // in Unix milliseconds
	Status  int     `json:"status"`
	Version Version `json:"version"` // zero after a 304, or if the body was not seen
}

// RecordRobotsFetch records a crawler's robots fetch, after all previously recorded requests.
func (l *Ledger) RecordRobotsFetch(q *Request, fetch RobotsFetch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.countAll()
	s := l.site(q.Site)
	s.revision++
	w := l.row(s, keyOf(q.Token, q.Class, q.Identity), q.NamedByRobots, fetch.At)
	if w.FirstSeen == 0 {
		w.FirstSeen, w.LastSeen = fetch.At, fetch.At
	}
	if w.RobotsFetch == nil || fetch.At >= w.RobotsFetch.At {
		w.RobotsFetch, w.RequestsSinceFetch = &fetch, 0
	}
}

// LastRobotsFetch returns the last robots fetch of a crawler at a site, or the zero RobotsFetch if
// the ledger has none. The second result is false if the crawler shares its row with others, or the
// site its name: then the ledger does not know the fetches of the crawler.
func (l *Ledger) LastRobotsFetch(q *Request) (RobotsFetch, bool) {
	if isShared(q.Token) || q.Site == Other {
		return RobotsFetch{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.countAll() // the row of a new crawler
	s := l.sites[q.Site]
	if s == nil {
		return RobotsFetch{}, false
	}
	w := s.findRow(keyOf(q.Token, q.Class, q.Identity))
	if w == nil {
		return RobotsFetch{}, false
	}
	if w.RobotsFetch == nil {
		return RobotsFetch{}, true
	}
	return *w.RobotsFetch, true
}
