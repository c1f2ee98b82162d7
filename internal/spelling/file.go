package spelling

import (
	"os"
	"path/filepath"
)

// NearFile returns the file beside one that is not there whose name is near, with the same
// directory as is written, "" if there is none.
func NearFile(path string) string {
	directory, name := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(directory + "."))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	if near := Near(name, names); near != "" {
		return directory + near
	}
	return ""
}
