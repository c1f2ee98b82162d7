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

// DecodeSnapshot decodes the result of [Snapshot.Encode]. DecodeSnapshot returns an error for all
// other data, such as damaged data or another format.
func DecodeSnapshot(data []byte) (Snapshot, error) {
	if len(data) > MaxSnapshotSize {
		return Snapshot{}, fmt.Errorf("the snapshot has %d bytes, more than the maximum of %d", len(data), MaxSnapshotSize)
	}
	var envelope snapshotJSON
	if err := json.Unmarshal(data, &envelope); err != nil {
		return Snapshot{}, fmt.Errorf("the snapshot is not valid JSON: %w", err)
	}
	switch {
	case envelope.Format > snapshotFormat:
		return Snapshot{}, fmt.Errorf("a newer version of Robots Guard wrote the snapshot in format %d; this version reads format %d", envelope.Format, snapshotFormat)
	case envelope.Format != snapshotFormat:
		return Snapshot{}, fmt.Errorf("the snapshot has the unknown format %d", envelope.Format)
	}
	sum := sha256.Sum256(envelope.Policy)
	if hex.EncodeToString(sum[:]) != envelope.SHA256 {
		return Snapshot{}, errors.New("the checksum of the snapshot does not match")
	}
	var p policyJSON
	if err := json.Unmarshal(envelope.Policy, &p); err != nil {
		return Snapshot{}, fmt.Errorf("the snapshot is not valid JSON: %w", err)
	}
	return p.decode()
}

// decode returns the snapshot, or an error for values that Encode does not write.
func (p *policyJSON) decode() (Snapshot, error) {
	s := Snapshot{Key: p.Key, Saved: p.Saved}
	if (p.Source == "") == (p.Host == "") || p.Source != "" && s.Key != (Key{Source: p.Source}) {
		return Snapshot{}, errors.New("the key of the snapshot must have either a host or a source")
	}
	if err := s.Key.checkStorable(); err != nil {
		return Snapshot{}, err
	}
	if len(p.Previous) > MaxVersions {
		return Snapshot{}, fmt.Errorf("the snapshot has %d previous versions, more than the maximum of %d", len(p.Previous), MaxVersions)
	}
	if len(p.RedirectTargets) > MaxRedirects || slices.ContainsFunc(p.RedirectTargets, func(place string) bool { return !isStorableRedirect(place) }) {
		return Snapshot{}, fmt.Errorf("the snapshot has more than %d redirect targets, or one is empty, too long or not UTF-8", MaxRedirects)
	}
	good, err := p.Current.decode()
	if err != nil {
		return Snapshot{}, err
	}
	if !good.ReplacedAt.IsZero() || !isPlausible(p.Saved) || !isPlausible(p.NextFetch) || p.NextFetch.After(good.LastFetched.Add(MaxAge)) {
		return Snapshot{}, errors.New("the time of the snapshot or of the next fetch is out of range, or the current version has an end time")
	}
	s.State = State{Current: good, RedirectTargets: p.RedirectTargets, NextFetch: p.NextFetch, LastResult: FetchResult{Status: good.Status}.AccessResult()}
	for i := range p.Previous {
		v, err := p.Previous[i].decode()
		if err != nil {
			return Snapshot{}, err
		}
		if v.ReplacedAt.IsZero() {
			return Snapshot{}, errors.New("a previous version has no end time")
		}
		s.State.Previous = append(s.State.Previous, v)
	}
	return s, nil
}

// decode returns the version, or an error for values that Encode does not write.
func (e *versionJSON) decode() (*Version, error) {
	v := &Version{
		Status: e.Status, WasServed: e.Served, ETag: e.ETag, LastModified: e.LastModified,
		FirstFetched: e.FirstFetched, LastFetched: e.LastFetched, Lifetime: NoLifetime,
	}
	if n, err := hex.Decode(v.Hash[:], []byte(e.SHA256[:min(len(e.SHA256), 2*sha256.Size)])); err != nil || n != sha256.Size || len(e.SHA256) != 2*n {
		return nil, fmt.Errorf("%q is not a SHA-256 in hexadecimal", e.SHA256)
	}
	switch access := (FetchResult{Status: e.Status}).AccessResult(); {
	case access != Successful && access != Unavailable:
		return nil, fmt.Errorf("the status %d of a version does not determine the rules", e.Status)
	case access == Unavailable && (len(e.Text) > 0 || e.Form != ""):
		return nil, fmt.Errorf("a version with the status %d must not have a text", e.Status)
	}
	if len(e.ETag) > maxValidatorLength || len(e.LastModified) > maxValidatorLength {
		return nil, errors.New("the ETag or Last-Modified of a version is too long")
	}
	if !isPlausible(e.FirstFetched) || !isPlausible(e.LastFetched) || e.FirstFetched.After(e.LastFetched) {
		return nil, errors.New("the fetch times of a version are out of range or out of order")
	}
	if e.ReplacedAt != nil {
		if v.ReplacedAt = *e.ReplacedAt; !isPlausible(v.ReplacedAt) || v.ReplacedAt.Before(v.LastFetched) {
			return nil, errors.New("the end time of a version is out of range or before its last fetch")
		}
	}
	var err error
	v.Robots, err = e.parseText(v.Hash)
	return v, err
}

// parseText parses the text of a version. hash is the SHA-256 of the whole body. If the text is not
// the whole body, parseText parses a body with the same text that makes the parser report the same
// finding.
func (e *versionJSON) parseText(hash [sha256.Size]byte) (*Robots, error) {
	body := e.Text
	whole := sha256.Sum256(body) == hash
	switch {
	case e.Form == "" && !whole:
		return nil, errors.New("the text of a version does not match its SHA-256")
	case e.Form != "" && whole:
		return nil, fmt.Errorf("the text of a version has the form %q, but its SHA-256 is that of the whole text", e.Form)
	}
	switch e.Form {
	case "":
	case formTruncated:
		if len(body) < MaxSize {
			body = append(bytes.Clone(body), bytes.Repeat([]byte("#"), MaxSize+1)...)
		} else {
			body = append(bytes.Clone(body), '\n')
		}
	case formUTF16:
		body = []byte("\xff\xfe")
	default:
		return nil, fmt.Errorf("the text of a version has the unknown form %q", e.Form)
	}
	robots := Parse(body)
	if robots.Text() != string(e.Text) {
		return nil, errors.New("the text of a version does not have the form of a stored robots.txt")
	}
	return robots, nil
}

// isPlausible reports whether a time is between 1990 and 9989, so that it is not a mistake and RFC
// 3339 can represent it.
func isPlausible(t time.Time) bool { return t.Year() >= 1990 && t.Year() < 9990 }
