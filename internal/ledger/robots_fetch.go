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
	s.noted++
	w := l.row(s, keyOf(q.Token, q.Class, q.Identity), q.Named, fetch.At)
	if w.FirstSeen == 0 {
		w.FirstSeen, w.LastSeen = fetch.At, fetch.At
	}
	if w.RobotsFetch == nil || fetch.At >= w.RobotsFetch.At {
		w.RobotsFetch, w.SinceRobotsFetch = &fetch, 0
	}
}

// LastRobotsFetch returns the last robots fetch of a crawler at a site, or nil. The caller must not
// change the result.
func (l *Ledger) LastRobotsFetch(q *Request) *RobotsFetch {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sites[q.Site]
	if s == nil {
		return nil
	}
	if w := s.find(keyOf(q.Token, q.Class, q.Identity)); w != nil {
		return w.RobotsFetch
	}
	return nil
}
