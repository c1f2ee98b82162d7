// Package alert finds problems that the owner of a server should act on. It examines the
// state of the guard, without cost for requests.
//
// A [Manager] examines the state once a minute, see [StateSource]. A problem is open until it ends. An
// acknowledged problem stays quiet. The ID of an alert contains its subject, such as a rule,
// version or crawler. A change of the subject is a new alert.
package alert
