// Package explain describes why a request is allowed or disallowed. It reports the identity of the
// client, the selected group, the matching rules, and the action of the server. The verdict itself
// comes from package judge.
package explain
