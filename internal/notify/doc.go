// Package notify sends alerts to receivers: a webhook of the owner, or a service that
// shoutrrr knows, such as Slack, Discord, ntfy or mail.
//
// Each [Receiver] gets every list of alerts. It sends an alert that is open and severe
// enough once the alert has waited for others, and sends the end of that alert later. It
// does not send an alert that was acknowledged before. It limits how often it sends, and
// tries again if the receiver does not accept a message.
package notify
