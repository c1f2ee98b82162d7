// Package publish publishes the changes of a managed robots.txt, and keeps their history.
//
// A [Change] is a set of rules that was submitted, with a state. A [History] has the changes of a site;
// its methods are pure. A [Store] keeps the history in a storage that instances share: after any failure
// exactly one whole change is published. A [Publisher] submits the rules of a configuration, and composes,
// caches and serves the files of the published change.
package publish
