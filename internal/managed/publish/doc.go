// Package publish brings the changes of a managed robots.txt into force and keeps
// their history.
//
// A [Change] is a set of rules that the owner of a site wants, with how far it has
// come. A [State] has the changes of a site; its methods are pure. A [Store] keeps the
// State in a storage that several instances share: whatever fails, one whole change is
// published at any time. A [Release] submits what a configuration wants, tries it,
// and serves what is published.
package publish
