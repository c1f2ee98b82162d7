package ledger

// RobotsFetch is a crawler's request for robots.txt, and the response.
type RobotsFetch struct {
	At      int64   `json:"at"` // At is the time in Unix milliseconds.
	Status  int     `json:"status"`
	Version Version `json:"version"` // Version is zero after a 304, or if the body was not seen.
}

// RecordRobotsFetch records that a crawler requested robots.txt. It counts all requests recorded
// earlier first, so they do not count as requests since the fetch.
func (l *Ledger) RecordRobotsFetch(q *Request, fetch RobotsFetch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.countBufferedRecords()
	s := l.getOrCreateSite(q.Site)
	s.revision++
	w := l.getOrCreateRow(s, newRowKey(q.Token, q.Class, q.Identity), q.NamedByRobots, fetch.At)
	if w.FirstSeen == 0 {
		w.FirstSeen = fetch.At
	}
	w.LastSeen = max(w.LastSeen, fetch.At)
	if w.RobotsFetch == nil || fetch.At >= w.RobotsFetch.At {
		w.RobotsFetch, w.RequestsSinceFetch = &fetch, 0
	}
}

// LastRobotsFetch returns a crawler's last request for the robots.txt of a site, or the zero
// RobotsFetch if the crawler sent none. The second result is false if the ledger cannot tell,
// because the crawler or the site shares its row with others or has none.
func (l *Ledger) LastRobotsFetch(q *Request) (RobotsFetch, bool) {
	if isSharedToken(q.Token) || q.Site == Other {
		return RobotsFetch{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.countBufferedRecords() // This adds the row of a new crawler.
	s := l.sites[q.Site]
	if s == nil {
		return RobotsFetch{}, false
	}
	w := s.findRow(newRowKey(q.Token, q.Class, q.Identity))
	if w == nil {
		return RobotsFetch{}, false
	}
	if w.RobotsFetch == nil {
		return RobotsFetch{}, true
	}
	return *w.RobotsFetch, true
}
