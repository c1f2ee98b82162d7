// Package diff tells what an edit of a robots.txt changes: for which crawlers,
// and for which URLs. Example URLs are made from the rules and then judged by
// both files, so that each one shown is a change; a change that no example was
// found for cannot be ruled out.
package diff
