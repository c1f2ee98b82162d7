package main

import "strings"

// has reports whether a metric of this name, whatever its labels, is not zero.
func has(all map[string]float64, name string) bool {
	for metric, value := range all {
		if _, ok := labelsOf(metric, name); ok && value > 0 {
			return true
		}
	}
	return false
}

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
