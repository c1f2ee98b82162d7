// Package responseaudit audits the responses to crawlers: contradictions to the robots.txt, and
// visits from the operators' assistants.
//
// A site that allows a page in robots.txt and responds with 403 contradicts itself. [FindCurrent]
// reports frequent contradictions.
package responseaudit
