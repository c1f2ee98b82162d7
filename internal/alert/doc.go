// Package alert is what the owner of a server should do something about, found
// in what the guard knows, at no cost to requests.
//
// A [Book] is shown what is known once in a while, see [Known]. What it finds is
// open until it is over. The owner acknowledges what is known or meant: that
// stays quiet until it becomes another thing, since the ID of an alert says what
// it is about, such as a rule, a version or a crawler.
//
// Nothing is found in counts alone: those may be from before somebody looked.
package alert
