package guard

import (
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// contentUsage is the header of a response that states how its content may be used
// (draft-ietf-aipref-attach-05 section 2).
const contentUsage = "Content-Usage"

// stating returns what passes an answer on with what the robots.txt states to everybody
// about the use of the page, w itself where that is nothing. It does not go by who asks:
// caches give the answer to others, too. The file is read in the background where
// nobody has caused that yet, and until it is known nothing is stated.
func (g *Guard) stating(w http.ResponseWriter, r *http.Request, j *Judgement) http.ResponseWriter {
	if !g.ContentUsage || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return w
	}
	stated := g.statedToAll(r, j)
	if stated == (policy.Preferences{}) {
		return w
	}
	return &statement{passing: passTo(w), stated: stated}
}

// statedToAll returns what the robots.txt in force states to everybody about the use of
// what a request is for. j is nil for a request that nobody judges.
func (g *Guard) statedToAll(r *http.Request, j *Judgement) policy.Preferences {
	var kept *keptSite
	var site *request.Site
	if j != nil {
		kept, site = j.kept, j.Site
	} else if kept = g.namedSite(r); kept != nil {
		site = kept.Site
	} else {
		site = new(g.otherSite(r))
	}
	entry := g.entryOf(kept, &site.Key)
	if entry == nil {
		entry = g.meet(g.sitesOf(r).Server, site)
	}
	now := time.Now()
	entry.Use(now)
	version, _ := inForce(g.state(r, entry, site, false, now, 0), now, g.Fallback)
	if version == nil || !version.Robots.HasContentUsage() {
		return policy.Preferences{}
	}
	var target policy.Target
	target.Set(request.TargetOf(request.OriginalRequest(r)), g.Settings.KeepSlashes)
	return version.Robots.ContentUsage(&target)
}

// statement adds a Content-Usage line to an answer, before its header is sent.
type statement struct {
	passing
	stated policy.Preferences
	done   bool
}

// WriteHeader implements [http.ResponseWriter]. What is no page is left as it is:
// redirects and errors. So is "not modified": sites leave their own header out of it,
// and in caches ours would take the place of that (RFC 9111 section 3.2).
func (s *statement) WriteHeader(status int) {
	if !s.done && status >= http.StatusOK {
		s.done = true
		if status < http.StatusMultipleChoices {
			s.add()
		}
	}
	s.ResponseWriter.WriteHeader(status)
}

// begin is for an answer whose status nobody writes: it is 200.
func (s *statement) begin() {
	if !s.done {
		s.done = true
		s.add()
	}
}

// add adds a line of the uses that the site's own header does not state anything about.
// Of equal keys the last counts, so one of ours may never stand behind one of its own;
// and where its own is no dictionary, that states nothing, whatever stands beside it.
func (s *statement) add() {
	header := s.Header()
	if own := header.Values(contentUsage); len(own) > 0 {
		members, err := httpsfv.UnmarshalDictionary(own)
		if err != nil {
			return
		}
		for _, use := range policy.Uses() {
			if slices.Contains(members.Names(), use.String()) {
				s.stated[use] = policy.PreferenceUnknown
			}
		}
	}
	if line := s.stated.String(); line != "" {
		header.Add(contentUsage, line)
	}
}

// Write implements [http.ResponseWriter].
func (s *statement) Write(p []byte) (int, error) {
	s.begin()
	return s.ResponseWriter.Write(p)
}

// ReadFrom implements [io.ReaderFrom], so that the server can send files by itself.
func (s *statement) ReadFrom(r io.Reader) (int64, error) {
	s.begin()
	return s.passing.ReadFrom(r)
}

// Flush implements [http.Flusher].
func (s *statement) Flush() { _ = s.FlushError() }

// FlushError is Flush for [http.ResponseController].
func (s *statement) FlushError() error {
	s.begin()
	return s.passing.FlushError()
}
