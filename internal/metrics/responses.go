package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// responseMetrics count the site's responses to crawlers.
type responseMetrics struct {
	responses       *prometheus.CounterVec
	robotsResponses *prometheus.CounterVec
	bytes           *prometheus.CounterVec
	visits          *prometheus.CounterVec
	counters        seriesByIndex[responseCounters] // The index consists of class, kind and status.
}

// responseCounters are the counters of responses with the same class, kind and status. count is nil
// if only their bytes are counted.
type responseCounters struct{ count, bytes prometheus.Counter }

func newResponseMetrics(b metricBuilder) responseMetrics {
	return responseMetrics{
		responses:       b.newCounter("answers_total", "Answers of the site to requests that its robots.txt allows, by the class of the crawler.", "class", "status"),
		robotsResponses: b.newCounter("robots_answers_total", "Answers of the site to requests of crawlers for a robots.txt.", "status"),
		bytes:           b.newCounter("answer_bytes_total", "Bytes of the bodies of all answers of the site to crawlers.", "class"),
		visits:          b.newCounter("visits_total", "Pages that people opened from an AI assistant, by the Referer of their browsers.", "assistant"),
		counters:        make(seriesByIndex[responseCounters], len(uaident.Classes())*int(responseaudit.NumRequestKinds)*int(responseaudit.NumStatusClasses)),
	}
}

// CountResponse counts a response of the site to a crawler. size is the size of its body in bytes.
// Spoofed clients have the class other.
func (m *responseMetrics) CountResponse(class uaident.Class, kind responseaudit.RequestKind, status responseaudit.StatusClass, size int64) {
	counters := m.counters.getOrCreate((int(class)*int(responseaudit.NumRequestKinds)+int(kind))*int(responseaudit.NumStatusClasses)+int(status), func() responseCounters {
		c := responseCounters{bytes: m.bytes.WithLabelValues(class.String())}
		switch kind {
		case responseaudit.KindAllowed:
			c.count = m.responses.WithLabelValues(class.String(), status.String())
		case responseaudit.KindRobotsTxt:
			c.count = m.robotsResponses.WithLabelValues(status.String())
		}
		return c
	})
	if counters.count != nil {
		counters.count.Inc()
	}
	counters.bytes.Add(float64(max(size, 0)))
}

// CountAssistantVisit counts a person's visit from an AI assistant. from is the index of the
// assistant in [responseaudit.Assistants].
func (m *responseMetrics) CountAssistantVisit(from int) {
	m.visits.WithLabelValues(responseaudit.AssistantName(from)).Inc()
}
