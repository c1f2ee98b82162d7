// Package notify tells receivers of alerts, such as a chat or a program of the
// owner: by POST with JSON, in groups, not too often, and again where that fails.
//
// A [Receiver] is told each list of alerts that a book makes. What is open and
// severe enough goes out once it has waited for others to go with, and is not
// told again until it is over, which is told too. What is acknowledged before that
// goes out to nobody.
package notify
