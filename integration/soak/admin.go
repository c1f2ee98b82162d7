package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// metrics returns all metrics, by name and labels as they are written.
func (in *instance) metrics() (map[string]float64, error) {
	text, err := in.ask(http.MethodGet, "/metrics", "", nil)
	if err != nil {
		return nil, err
	}
	all := make(map[string]float64)
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), "} ")
		if name == lines.Text() {
			name, value, _ = strings.Cut(name, " ")
		} else {
			name += "}"
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			all[name] = n
		}
	}
	return all, lines.Err()
}

// policy returns the name of a site's robots.txt as it stands in a path: the host, or the
// source of one whose pages another proxy shows.
func (s *site) policy() string {
	if s.asked {
		return url.PathEscape("http:/" + s.origin.address + "/robots.txt host " + s.host)
	}
	return s.host
}

// version returns the hash of the robots.txt in force for a site, empty if none
// is known.
func (in *instance) version(s *site) (string, error) {
	text, err := in.ask(http.MethodGet, "/robots_guard/policies/"+s.policy(), "", nil)
	if err != nil {
		return "", err
	}
	var policy struct {
		Version string `json:"version"`
	}
	return policy.Version, json.Unmarshal(text, &policy)
}

// refresh makes the robots.txt of a site due.
func (in *instance) refresh(s *site) error {
	_, err := in.ask(http.MethodPost, "/robots_guard/policies/"+s.policy()+"/refresh", "", nil)
	return err
}
