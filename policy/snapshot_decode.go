package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// DecodeSnapshot decodes the result of [Snapshot.Encode]. DecodeSnapshot returns an error for any
// other data, including damaged data and other formats.
func DecodeSnapshot(data []byte) (Snapshot, error) {
	if len(data) > MaxSnapshot {
		return Snapshot{}, fmt.Errorf("the snapshot has %d bytes, which is too long", len(data))
	}
	var envelope snapshotJSON
	if err := json.Unmarshal(data, &envelope); err != nil {
		return Snapshot{}, fmt.Errorf("no snapshot: %w", err)
	}
	switch {
	case envelope.Format > snapshotFormat:
		return Snapshot{}, fmt.Errorf("format %d was written by a newer version; this version reads %d", envelope.Format, snapshotFormat)
	case envelope.Format != snapshotFormat:
		return Snapshot{}, fmt.Errorf("format %d is not known", envelope.Format)
	}
	sum := sha256.Sum256(envelope.Policy)
	if hex.EncodeToString(sum[:]) != envelope.SHA256 {
		return Snapshot{}, errors.New("the checksum does not match")
	}
	var p policyJSON
	if err := json.Unmarshal(envelope.Policy, &p); err != nil {
		return Snapshot{}, fmt.Errorf("no snapshot: %w", err)
	}
	return p.decode()
}

func (p *policyJSON) decode() (Snapshot, error) {
	s := Snapshot{Key: p.Key, Saved: p.Saved}
	if (p.Source == "") == (p.Host == "") || p.Source != "" && s.Key != (Key{Source: p.Source}) {
		return Snapshot{}, errors.New("the key must have either a site or a source")
	}
	if err := s.Key.checkStorable(); err != nil {
		return Snapshot{}, err
	}
	if len(p.Previous) > MaxVersions {
		return Snapshot{}, fmt.Errorf("%d past versions are more than %d", len(p.Previous), MaxVersions)
	}
	if len(p.RedirectTargets) > MaxRedirects || slices.ContainsFunc(p.RedirectTargets, func(place string) bool { return !isStorableRedirect(place) }) {
		return Snapshot{}, fmt.Errorf("its redirects are more than %d, or one is empty, too long or not UTF-8", MaxRedirects)
	}
	good, err := p.Current.decode()
	if err != nil {
		return Snapshot{}, err
	}
	if !good.ReplacedAt.IsZero() || !isPlausible(p.Saved) || !isPlausible(p.NextFetch) || p.NextFetch.After(good.LastFetched.Add(MaxAge)) {
		return Snapshot{}, errors.New("it was saved or is due at a time that is out of range, or its current version has ended")
	}
	s.State = State{Current: good, RedirectTargets: p.RedirectTargets, NextFetch: p.NextFetch, LastResult: FetchResult{Status: good.Status}.AccessResult()}
	for i := range p.Previous {
		v, err := p.Previous[i].decode()
		if err != nil {
			return Snapshot{}, err
		}
		if v.ReplacedAt.IsZero() {
			return Snapshot{}, errors.New("a past version has no end")
		}
		s.State.Previous = append(s.State.Previous, v)
	}
	return s, nil
}

// decode returns the decoded version.
func (e *versionJSON) decode() (*Version, error) {
	v := &Version{
		Status: e.Status, WasServed: e.Served, ETag: e.ETag, LastModified: e.LastModified,
		FirstFetched: e.FirstFetched, LastFetched: e.LastFetched, Lifetime: NoLifetime,
	}
	if n, err := hex.Decode(v.Hash[:], []byte(e.SHA256[:min(len(e.SHA256), 2*sha256.Size)])); err != nil || n != sha256.Size || len(e.SHA256) != 2*n {
		return nil, fmt.Errorf("%q is not a SHA-256", e.SHA256)
	}
	switch access := (FetchResult{Status: e.Status}).AccessResult(); {
	case access != Successful && access != Unavailable:
		return nil, fmt.Errorf("status %d does not determine the rules", e.Status)
	case access == Unavailable && (len(e.Text) > 0 || e.Form != ""):
		return nil, fmt.Errorf("status %d must not have rules", e.Status)
	}
	if len(e.ETag) > maxValidator || len(e.LastModified) > maxValidator {
		return nil, errors.New("a validator is too long")
	}
	if !isPlausible(e.FirstFetched) || !isPlausible(e.LastFetched) || e.FirstFetched.After(e.LastFetched) {
		return nil, errors.New("a version was read at times that are out of range or out of order")
	}
	if e.ReplacedAt != nil {
		if v.ReplacedAt = *e.ReplacedAt; !isPlausible(v.ReplacedAt) || v.ReplacedAt.Before(v.LastFetched) {
			return nil, errors.New("a version ended at a time that is out of range, or before it was read")
		}
	}
	var err error
	v.Robots, err = e.parseText(v.Hash)
	return v, err
}

// parseText parses the text. robots adds a marker for a text that is not the whole body, so that the
// parser repeats the finding.
func (e *versionJSON) parseText(hash [sha256.Size]byte) (*Robots, error) {
	body := e.Text
	whole := sha256.Sum256(body) == hash
	switch {
	case e.Form == "" && !whole:
		return nil, errors.New("the text does not match the SHA-256")
	case e.Form != "" && whole:
		return nil, fmt.Errorf("the text is whole, not %q", e.Form)
	}
	switch e.Form {
	case "":
	case formCut:
		if len(body) < MaxSize {
			body = append(bytes.Clone(body), bytes.Repeat([]byte("#"), MaxSize+1)...)
		} else {
			body = append(bytes.Clone(body), '\n')
		}
	case formUTF16:
		body = []byte("\xff\xfe")
	default:
		return nil, fmt.Errorf("form %q of the text is not known", e.Form)
	}
	robots := Parse(body)
	if robots.Text() != string(e.Text) {
		return nil, errors.New("invalid snapshot of a robots.txt")
	}
	return robots, nil
}

// isPlausible reports whether a time is plausible and representable in RFC 3339.
func isPlausible(t time.Time) bool { return t.Year() >= 1990 && t.Year() < 9990 }
