package responseaudit

import (
	"cmp"
	"slices"
)

// StatusCounts are numbers of responses by class of status, in JSON.
type StatusCounts struct {
	Success     uint64 `json:"2xx"`
	Redirect    uint64 `json:"3xx"`
	Refused     uint64 `json:"refused"`   // 401, 402, 403, 407, 451
	NotFound    uint64 `json:"not_found"` // 404, 410
	TooMany     uint64 `json:"too_many"`  // 429
	ClientError uint64 `json:"4xx"`       // other 4xx
	ServerError uint64 `json:"5xx"`
}

// StatusCounts returns the numbers of responses to requests of one kind, by class of status.
func (c *ResponseCounts) StatusCounts(kind RequestKind) StatusCounts {
	n := &c.ByKindAndStatus[kind]
	return StatusCounts{n[StatusSuccess], n[StatusRedirect], n[StatusRefused], n[StatusNotFound], n[StatusTooManyRequests], n[StatusClientError], n[StatusServerError]}
}

// Total returns the number of responses with any status.
func (a StatusCounts) Total() uint64 {
	return a.Success + a.Redirect + a.Refused + a.NotFound + a.TooMany + a.ClientError + a.ServerError
}

// Referral compares two numbers of one operator: pages fetched by its AI crawlers, and visits of
// people from its assistants.
type Referral struct {
	Operator string `json:"operator"`
	// Fetches is the number of responses to the operator's crawlers of the classes ai_training,
	// ai_search and ai_assistant, without the responses to requests for robots.txt. Visits is the
	// number of pages that people opened from its assistants.
	Fetches uint64 `json:"fetches"`
	Visits  uint64 `json:"visits"`
	// FetchesPerVisit is Fetches / Visits. It is absent without a visit.
	FetchesPerVisit *float64 `json:"fetches_per_visit,omitempty"`
	// VisitsByAssistant has the assistant with the most visits first.
	VisitsByAssistant []AssistantVisits `json:"from"`
}

// AssistantVisits is the number of visits of people from one assistant.
type AssistantVisits struct {
	Assistant string `json:"assistant"`
	Visits    uint64 `json:"visits"`
}

// Referrals returns the referrals of all operators, most visits first. visits has the visits by
// index in [Assistants], fetches the pages by operator.
func Referrals(visits [NumAssistants]uint64, fetches map[string]uint64) []Referral {
	byOperator := make(map[string]*Referral)
	referralOf := func(operator string) *Referral {
		if byOperator[operator] == nil {
			byOperator[operator] = &Referral{Operator: operator, VisitsByAssistant: []AssistantVisits{}}
		}
		return byOperator[operator]
	}
	for i, n := range visits {
		if n > 0 {
			r := referralOf(assistants[i].Operator)
			r.Visits += n
			r.VisitsByAssistant = append(r.VisitsByAssistant, AssistantVisits{assistants[i].Name, n})
		}
	}
	for operator, n := range fetches {
		referralOf(operator).Fetches += n
	}
	list := []Referral{}
	for _, r := range byOperator {
		if r.Visits > 0 {
			ratio := float64(r.Fetches) / float64(r.Visits)
			r.FetchesPerVisit = &ratio
		}
		slices.SortStableFunc(r.VisitsByAssistant, func(a, b AssistantVisits) int { return cmp.Compare(b.Visits, a.Visits) })
		list = append(list, *r)
	}
	slices.SortFunc(list, func(a, b Referral) int {
		return cmp.Or(cmp.Compare(b.Visits, a.Visits), cmp.Compare(b.Fetches, a.Fetches), cmp.Compare(a.Operator, b.Operator))
	})
	return list
}
