package main

import "strings"

// labelsOf returns the labels of a metric, given as it is written, if it has
// this name. Values with quotes or commas do not occur here.
func labelsOf(metric, name string) (map[string]string, bool) {
	list, ok := strings.CutPrefix(metric, name+"{")
	if !ok {
		return nil, false
	}
	labels := make(map[string]string)
	for pair := range strings.SplitSeq(strings.TrimSuffix(list, "}"), ",") {
		key, value, _ := strings.Cut(pair, "=")
		labels[key] = strings.Trim(value, `"`)
	}
	return labels, true
}
