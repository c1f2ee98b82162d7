package publication

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

func closing(id string, sites ...string) BaseChange {
	return BaseChange{Change: Change{ID: id, Parent: "before", Reasons: []string{"Googlebot may not fetch / any more"}}, Kept: "kept", Sites: sites}
}

// A base waits, is confirmed, refused or withdrawn, and counts once for all sites that
// have it.
func TestBases(t *testing.T) {
	at := func(minutes int) time.Time { return epoch.Add(time.Duration(minutes) * time.Minute) }
	var s State
	s, news := s.Hold(closing("closed", "https://a.test"), at(0))
	if b := s.Bases; news != HasToWait || len(b) != 1 || b[0].Stage != Confirmation || b[0].Number != 1 || b[0].Origin != FromBase {
		t.Fatalf("%q, bases %+v", news, b)
	}
	before := s
	s, news = s.Hold(closing("closed", "http://a.test", "https://a.test"), at(1))
	if b := s.Bases; news != Nothing || len(b) != 1 || !slices.Equal(b[0].Sites, []string{"http://a.test", "https://a.test"}) {
		t.Errorf("the second site: %q, %+v", news, b)
	}
	if len(before.Bases[0].Sites) != 1 {
		t.Error("a State is not modified")
	}
	if !slices.Equal(s.Specs(), []string{"kept"}) {
		t.Errorf("specs %q", s.Specs())
	}
	if _, _, err := s.Promote("", By{}, at(1)); !errors.Is(err, ErrUnconfirmed) {
		t.Errorf("promoted with %v", err)
	}
	confirmed, news, err := s.Confirm("", By{Who: "ann", Why: "meant"}, at(2))
	if err != nil || news != IsPublished || confirmed.Bases[0].Stage != BaseConfirmed || confirmed.History[0].End != Accepted {
		t.Errorf("confirmed: %q, %v, %+v", news, err, confirmed)
	}
	if c := confirmed.Subject(news, s); c.ID != "closed" || c.Confirmed == nil {
		t.Errorf("the subject is %+v", c)
	}
	if again, news := confirmed.Hold(closing("closed", "https://a.test"), at(3)); news != Nothing || again.Bases[0].Stage != BaseConfirmed {
		t.Errorf("once more: %q, %+v", news, again.Bases)
	}
	if later, news := confirmed.Hold(closing("closed", "https://a.test"), at(3+25*60)); news != HasToWait || len(later.Bases) != 1 {
		t.Errorf("a day later: %q, %+v", news, later.Bases)
	}
	stopped, news, err := s.Stop("closed", By{Who: "ann"}, at(2))
	if err != nil || news != IsStopped || !stopped.Bases[0].Keeps() || stopped.History[0].End != Stopped {
		t.Errorf("stopped: %q, %v, %+v", news, err, stopped)
	}
	if after, news := stopped.Settle(1, []string{"https://a.test", "http://a.test"}, at(3)); news != Nothing || len(after.Bases) != 0 || len(after.History) != 1 {
		t.Errorf("the site has mended what was refused: %q, %+v", news, after)
	}
	one, news := s.Settle(1, []string{"https://a.test"}, at(3))
	if news != Nothing || len(one.Bases) != 1 || len(one.Bases[0].Sites) != 1 {
		t.Errorf("one site is mended: %q, %+v", news, one.Bases)
	}
	none, news := one.Settle(1, []string{"http://a.test"}, at(3))
	if news != IsWithdrawn || len(none.Bases) != 0 || none.Subject(news, one).ID != "closed" {
		t.Errorf("both are mended: %q, %+v", news, none)
	}
}

// Where a base and a candidate wait, who confirms says which one is meant.
func TestWhichWaits(t *testing.T) {
	s, _ := State{}.Submit(Submission{ID: "rules", Instance: "one", Reasons: []string{"why"}}, epoch)
	s, _ = s.Hold(closing("closed", "https://a.test"), epoch)
	for _, act := range []func(string, By, time.Time) (State, News, error){s.Confirm, s.Stop} {
		if _, _, err := act("", By{Who: "ann"}, epoch); !errors.Is(err, ErrSeveral) {
			t.Errorf("got %v", err)
		}
	}
	if after, news, err := s.Confirm("rules", By{}, epoch); err != nil || news != IsPublished || after.PublishedID() != "rules" || after.Bases[0].Stage != Confirmation {
		t.Errorf("%q, %v, %+v", news, err, after)
	}
	after, news, err := s.Confirm("closed", By{}, epoch)
	if err != nil || news != IsPublished || after.Candidate == nil || after.Bases[0].Stage != BaseConfirmed {
		t.Errorf("%q, %v, %+v", news, err, after)
	}
	if after, _, err = after.Confirm("", By{}, epoch); err != nil || after.PublishedID() != "rules" {
		t.Errorf("then the only one: %v, %+v", err, after)
	}
	if rolled, _, err := after.Rollback("", By{}, epoch); err != nil || rolled.PublishedID() != IDOf(Empty) {
		t.Errorf("a base is nothing to go back to: %v, %+v", err, rolled.Published)
	}
}

// A site that turns back and forth each minute for a month, with the same text or with
// another one each time, costs few writings, and the history keeps what others did.
func TestTurningBase(t *testing.T) {
	for name, text := range map[string]func(i int) string{
		"the same":    func(int) string { return "closed" },
		"another one": func(i int) string { return fmt.Sprint("closed", i) },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := State{}.Submit(Submission{ID: "first", Instance: "one"}, epoch)
			s, _ = s.Submit(Submission{ID: "second", Instance: "one"}, epoch)
			written := 0
			for i := range 30 * 24 * 60 {
				at := epoch.Add(time.Duration(i) * time.Minute)
				var news News
				if i%2 == 0 {
					s, news = s.Hold(closing(text(i), "https://a.test"), at)
				} else if len(s.Bases) > 0 {
					s, news = s.Settle(s.Bases[0].Number, []string{"https://a.test"}, at)
				}
				if news != Nothing {
					written++
				}
			}
			if most := 2 * 30 * 24 * 6; written > most || written < 100 {
				t.Errorf("%d writings, want at most %d", written, most)
			}
			if n := len(s.History); n > mostTurnings+1 || len(s.Bases) > 1 {
				t.Errorf("%d changes in the history, %d bases", n, len(s.Bases))
			}
			if last := s.History[len(s.History)-1]; last.ID != "first" {
				t.Errorf("the change before is lost: %+v", last)
			}
		})
	}
}

// However many bases wait, what is stored is bounded.
func TestManyBases(t *testing.T) {
	var s State
	for i := range 2 * mostBases {
		var sites []string
		for j := range 2 * mostSites {
			sites = append(sites, fmt.Sprintf("https://%d-%d.test", i, j))
		}
		s, _ = s.Hold(closing(fmt.Sprint(i), sites...), epoch)
	}
	if len(s.Bases) != mostBases || len(s.Bases[0].Sites) != mostSites {
		t.Errorf("%d bases of %d sites", len(s.Bases), len(s.Bases[0].Sites))
	}
}

// Sites that clients name leave room for those that the configuration does.
func TestInventedBasesLeaveRoom(t *testing.T) {
	var s State
	hold := func(i int, invented bool) News {
		in := closing(fmt.Sprint(i, invented), fmt.Sprintf("https://%d-%t.test", i, invented))
		in.Invented = invented
		var news News
		s, news = s.Hold(in, epoch)
		return news
	}
	waits := 0
	for i := range 2 * mostBases {
		if hold(i, true) == HasToWait {
			waits++
		}
	}
	if waits != mostInvented || len(s.Bases) != mostInvented {
		t.Errorf("%d of those that clients name wait, %d bases, want %d", waits, len(s.Bases), mostInvented)
	}
	if hold(1, false) != HasToWait {
		t.Error("one that the configuration names does not wait")
	}
	if hold(2, true) == HasToWait {
		t.Error("one more that clients name waits")
	}
}
