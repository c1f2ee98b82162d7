package copies

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

var restoreTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// storedCopy returns the stored form of a file that was the guard's copy at restoreTime.
func storedCopy(text string) storedFile {
	return storedFile{fileUses: fileUses{LastCopied: restoreTime}, Hash: hashOf(text), Text: policy.Parse([]byte(text)).CompressedText()}
}

// TestRestoreRejected restores files of which one is damaged or too large. Nothing is restored.
func TestRestoreRejected(t *testing.T) {
	damaged := storedCopy(closed)
	damaged.Text = damaged.Text[:len(damaged.Text)-1]
	large := func(n int) (files []storedFile) {
		for i := range n {
			text := fmt.Sprintf("User-agent: *\nDisallow: /%d\n", i)
			files = append(files, storedCopy(text+strings.Repeat("#", policy.MaxSize-len(text))))
		}
		return files
	}
	for _, tc := range []struct {
		name  string
		files []storedFile
		ok    bool
	}{
		{"damaged", []storedFile{storedCopy(open), damaged}, false},
		{"largest", large(5), true},
		{"too large", large(6), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, host := NewHistory(nil), Host{Name: "a.test"}
			if err := b.Restore(StoredHost{Host: host, Files: tc.files}, true, 0, restoreTime); (err == nil) != tc.ok {
				t.Fatalf("got error %v", err)
			}
			if record := b.findRecord(host); (record != nil) != tc.ok {
				t.Errorf("a record exists: %t", record != nil)
			}
			checkBounds(t, b)
		})
	}
}

// TestRestoredHash restores a file with the hash of another file, which must not replace the other
// file at any host.
func TestRestoredHash(t *testing.T) {
	forged := storedCopy(open)
	forged.Hash = hashOf(closed)
	s := newSite(t)
	if err := s.book.Restore(StoredHost{Host: Host{Name: "b.test"}, Files: []storedFile{forged}}, true, 0, s.now); err != nil {
		t.Fatal(err)
	}
	s.reads(200, closed).reads(200, closed+"Disallow: /x\n").after(time.Hour).wants("foobot", "disallowed")
}

// TestRestoredOtherFile restores a file of another instance, next to a file that both have.
func TestRestoredOtherFile(t *testing.T) {
	s := newSite(t).reads(200, closed).wants("foobot", "disallowed")
	other := storedCopy(open)
	other.LastCopied = s.now
	if err := s.book.Restore(StoredHost{Host: s.of.Host, Files: []storedFile{storedCopy(closed), other}}, false, 0, s.now); err != nil {
		t.Fatal(err)
	}
	s.wants("foobot", "stale")
}

// TestRestoredLargeFile restores a file larger than policy.MaxSize. Its hash is unknown until the
// file is fetched again.
func TestRestoredLargeFile(t *testing.T) {
	large := open + strings.Repeat("#\n", policy.MaxSize)
	first := newSite(t).reads(200, large).after(time.Hour).reads(200, closed)
	d, _, err := first.book.EncodeHost(first.of.Host, first.now)
	if err != nil {
		t.Fatal(err)
	}
	stored, _, err := DecodeStoredHost(d.Data)
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	if err := s.book.Restore(stored, true, 0, first.now); err != nil {
		t.Fatal(err)
	}
	s.after(2*time.Hour).reads(200, closed).wants("foobot", "stale").reads(200, large).reads(200, closed)
	if n := len(s.book.findRecord(s.of.Host).files); n != 2 {
		t.Errorf("%d files, want 2", n)
	}
	s.after(day).wants("foobot", "disallowed")
}

// FuzzRestore restores random files in several documents, of which some are damaged. The bounds hold
// after each document.
func FuzzRestore(f *testing.F) {
	f.Add(uint64(1), []byte(open), []byte(closed))
	f.Add(uint64(2), []byte{}, policy.Parse([]byte(open)).CompressedText())
	f.Add(uint64(3), []byte("\xff\xfeU\x00"), []byte(strings.Repeat("User-agent: a\n", 100)))
	f.Fuzz(func(t *testing.T, seed uint64, text, other []byte) {
		dice := rand.New(rand.NewPCG(seed, 1))
		b, now := NewHistory(nil), restoreTime
		at := func() time.Time { return now.Add(time.Duration(dice.IntN(20*24)-10*24) * time.Hour) }
		for range 1 + dice.IntN(4) {
			host := RequestHost{Host: Host{Name: fmt.Sprintf("%d.test", dice.IntN(2))}, Configured: dice.IntN(2) == 0, Grace: day}
			stored := StoredHost{Host: host.Host, Unnamed: !host.Configured}
			for n := range dice.IntN(40) {
				body := fmt.Appendf(nil, "%s\nUser-agent: %d\nDisallow: /%d\n", [][]byte{text, other}[dice.IntN(2)], n, dice.IntN(3))
				robots := policy.Parse(body)
				file := storedFile{Hash: sha256.Sum256(body), Text: robots.CompressedText()}
				switch dice.IntN(30) {
				case 0:
					file.Text = other
				case 1:
					file.Hash = sha256.Sum256(other)
				case 2:
					file.Text = policy.Parse([]byte(strings.Repeat("#", policy.MaxSize-dice.IntN(9)))).CompressedText()
				}
				file.LastCopied, file.ProxyTime, file.HeldUntil = at(), time.Duration(dice.IntN(5))*time.Hour, at()
				if dice.IntN(2) == 0 {
					file.LastCopied = time.Time{}
				}
				file.Served = map[string]time.Time{fmt.Sprint("bot", dice.IntN(5)): at()}
				stored.Files = append(stored.Files, file)
			}
			_ = b.Restore(stored, dice.IntN(2) == 0, time.Duration(dice.IntN(100))*time.Minute, now)
			checkBounds(t, b)
			now = now.Add(time.Duration(dice.IntN(48)) * time.Hour)
			state := policy.State{}.AfterFetch(policy.FetchResult{Status: 200, Body: text}, now, policy.FreshnessPolicy{}, 0)
			b.RecordCurrentCopy(host, &state, now)
			checkBounds(t, b)
			if d, empty, err := b.EncodeHost(host.Host, now); err != nil {
				t.Fatal(err)
			} else if !empty {
				stored, _, err := DecodeStoredHost(d.Data)
				if err == nil {
					err = NewHistory(nil).Restore(stored, false, 0, now)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// checkBounds checks the bounds of each host and the accounting of the shared versions.
func checkBounds(t *testing.T, b *History) {
	t.Helper()
	users := make(map[[sha256.Size]byte][2]int)
	for i := range b.hostSets {
		for _, record := range b.hostSets[i].hosts.Values() {
			if record.fileToEvict() != nil {
				t.Errorf("%s has %d files, more than allowed", record.host, len(record.files))
			}
			for n, f := range record.files {
				if f.version != nil {
					count := users[f.hash]
					count[i]++
					users[f.hash] = count
				}
				for _, other := range record.files[:n] {
					if other.digest == f.digest {
						t.Errorf("%s has two files with the same rules", record.host)
					}
				}
			}
		}
	}
	sizes := [2]int{}
	for hash, s := range b.versionsByHash {
		if s.numUsers != users[hash] {
			t.Errorf("a version has %d users, want %d", s.numUsers, users[hash])
		}
		for i, n := range s.numUsers {
			if n > 0 {
				sizes[i] += s.size
			}
		}
		if text := s.version.Robots.Text(); len(text) < policy.MaxSize/2 && sha256.Sum256([]byte(text)) != hash && text != "" {
			t.Errorf("a version has the hash of another file: %.40q", text)
		}
	}
	if len(b.versionsByHash) != len(users) {
		t.Errorf("%d versions are shared, want %d", len(b.versionsByHash), len(users))
	}
	for i := range b.hostSets {
		if got := b.hostSets[i].versionBytes; got != sizes[i] || got > maxBytes[i] {
			t.Errorf("%d bytes are counted, want %d, at most %d", got, sizes[i], maxBytes[i])
		}
	}
}
