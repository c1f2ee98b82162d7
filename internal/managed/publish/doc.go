// Package publish brings the changes of a managed robots.txt into force and keeps
// their history.
//
// A [Change] is a set of rules that the owner of a site wants, with how far it has
// come. A [History] has the changes of a site; its methods are pure. A [Store] keeps the
// History in a storage that several instances share: whatever fails, one whole change is
// published at any time. A [Release] submits what a configuration wants and publishes it.
// A [Publisher] composes the files of all hosts, keeps them, and serves them.
package publish
